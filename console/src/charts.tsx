import { useState } from 'react';

export interface Part {
  name: string;
  /** Its colour and pattern in the style sheet. */
  kind: string;
}

export interface Slot {
  label: string;
  /** In full, where the slot is pointed at. */
  title: string;
  values: readonly number[];
}

/** The half of each is whole as well: it is on the axis. */
const NICE = [1, 2, 4, 6, 8, 10];

/** A round number that is not below `most`. */
export function scaleOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  const step = NICE.find((one) => one * power >= most) ?? 10;
  return Math.max(step * power, 4);
}

interface ChartProps {
  title: string;
  parts: readonly Part[];
  slots: readonly Slot[];
  format?: (value: number) => string;
}

/** Bars of parts that add up. The figures are in a table too, which a screen reader reads. */
export function StackedBars({ title, parts, slots, format = String }: ChartProps) {
  const [at, setAt] = useState<number | null>(null);
  const shown = at === null ? undefined : slots[at];
  const sums = slots.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const scale = scaleOf(Math.max(...sums, 0));
  return (
    <figure className="chart">
      <Legend parts={parts} slot={shown} format={format} />
      <div className="plot" aria-hidden="true" onPointerLeave={() => setAt(null)}>
        <Axis scale={scale} format={format} />
        <div className="bars">
          {slots.map(({ title: name, values }, index) => (
            <div
              key={name}
              className={index === at ? 'bar-slot is-at' : 'bar-slot'}
              onPointerEnter={() => setAt(index)}
            >
              <div className="bar-stack" style={{ height: `${((sums[index] ?? 0) / scale) * 100}%` }}>
                {parts.map(({ kind }, part) => (
                  <i key={kind} className={`is-${kind}`} style={{ flexGrow: values[part] ?? 0 }} />
                ))}
              </div>
            </div>
          ))}
        </div>
      </div>
      <Labels slots={slots} />
      <Figures title={title} parts={parts} slots={slots} format={format} />
    </figure>
  );
}

/** A line for each part; a slot without a value interrupts it. */
export function Lines({ title, parts, slots, format = String }: ChartProps) {
  const [at, setAt] = useState<number | null>(null);
  const all = slots.flatMap(({ values }) => values.filter((value) => !Number.isNaN(value)));
  const scale = scaleOf(Math.max(...all, 0));
  const step = 100 / Math.max(slots.length, 1);
  return (
    <figure className="chart">
      <Legend parts={parts} slot={at === null ? undefined : slots[at]} format={format} />
      <div className="plot" aria-hidden="true" onPointerLeave={() => setAt(null)}>
        <Axis scale={scale} format={format} />
        <svg className="lines" viewBox="0 0 100 100" preserveAspectRatio="none">
          {parts.map(({ kind }, part) => (
            <path
              key={kind}
              className={`is-${kind}`}
              d={pathOf(
                slots.map(({ values }) => values[part] ?? Number.NaN),
                step,
                scale,
              )}
            />
          ))}
        </svg>
        <div className="bars">
          {slots.map(({ title: name }, index) => (
            <div
              key={name}
              className={index === at ? 'bar-slot is-at' : 'bar-slot'}
              onPointerEnter={() => setAt(index)}
            />
          ))}
        </div>
      </div>
      <Labels slots={slots} />
      <Figures title={title} parts={parts} slots={slots} format={format} />
    </figure>
  );
}

function pathOf(values: readonly number[], step: number, scale: number): string {
  let isDrawing = false;
  return values
    .map((value, index) => {
      if (Number.isNaN(value)) {
        isDrawing = false;
        return '';
      }
      const point = `${(index + 0.5) * step} ${100 - (value / scale) * 100}`;
      const next = values[index + 1];
      // A value that stands alone is a short line.
      const alone = !isDrawing && (next === undefined || Number.isNaN(next));
      const drawn = alone
        ? `M${index * step + step * 0.2} ${100 - (value / scale) * 100}h${step * 0.6}`
        : `${isDrawing ? 'L' : 'M'}${point}`;
      isDrawing = !alone;
      return drawn;
    })
    .join('');
}

function Legend({
  parts,
  slot,
  format,
}: {
  parts: readonly Part[];
  slot: Slot | undefined;
  format: (value: number) => string;
}) {
  return (
    <figcaption className="legend">
      {parts.map(({ name, kind }, index) => {
        const value = slot?.values[index];
        return (
          <span key={kind}>
            <i className={`is-${kind}`} aria-hidden="true" />
            {name}
            {value !== undefined && <b>{Number.isNaN(value) ? '–' : format(value)}</b>}
          </span>
        );
      })}
      {slot !== undefined && <span className="legend-slot">{slot.title}</span>}
    </figcaption>
  );
}

function Axis({ scale, format }: { scale: number; format: (value: number) => string }) {
  return (
    <div className="axis">
      {[scale, scale / 2, 0].map((value) => (
        <span key={value}>
          <b>{format(value)}</b>
        </span>
      ))}
    </div>
  );
}

const MOST_LABELS = 6;

function Labels({ slots }: { slots: readonly Slot[] }) {
  const every = Math.ceil(slots.length / MOST_LABELS);
  return (
    <div className="labels" aria-hidden="true">
      {slots.map(({ title, label }, index) => (
        <span key={title}>{index % every === 0 ? label : ''}</span>
      ))}
    </div>
  );
}

function Figures({ title, parts, slots, format }: Required<ChartProps>) {
  return (
    <details>
      <summary>Figures</summary>
      <div className="figures" tabIndex={0} role="region" aria-label={title}>
        <table>
          <caption className="hidden">{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {parts.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {slots.map((slot) => (
              <tr key={slot.title}>
                <th scope="row">{slot.title}</th>
                {slot.values.map((value, index) => (
                  <td key={index}>{Number.isNaN(value) ? '–' : format(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
