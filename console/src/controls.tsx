import { type ComponentProps, type ReactNode, useId } from 'react';
import { Link } from 'wouter';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'children'> {
  /** Without one the icon stands alone, and needs an `aria-label`. */
  label?: string;
  icon?: IconName;
  primary?: boolean;
  quiet?: boolean;
  /** It hands in its form. */
  submit?: boolean;
}

export function Button({ label, icon, primary, quiet, submit, className = '', ...rest }: ButtonProps) {
  const kind = primary === true ? 'primary' : quiet === true ? 'quiet' : '';
  return (
    <button
      type={submit === true ? 'submit' : 'button'}
      className={`button ${kind} ${className}`.replaceAll(/ +/g, ' ').trim()}
      {...rest}
    >
      {icon !== undefined && <Icon name={icon} />}
      {label}
    </button>
  );
}

interface ButtonLinkProps {
  label: string;
  href: string;
  primary?: boolean;
  quiet?: boolean;
}

/** Leads to a page, and looks like a button. */
export function ButtonLink({ label, href, primary, quiet }: ButtonLinkProps) {
  const kind = primary === true ? ' primary' : quiet === true ? ' quiet' : '';
  return (
    <Link className={`button${kind}`} href={href}>
      {label}
    </Link>
  );
}

/** From a detail to the list beside it, which a narrow window does not show. */
export function BackLink({ href }: { href: string }) {
  return (
    <Link href={href} className="button quiet back" aria-label="Back to the list">
      <Icon name="close" />
    </Link>
  );
}

interface TextFieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  label: string;
  /** What is wrong with it. */
  problem?: string | null;
  onText: (text: string) => void;
}

export function TextField({ label, problem = null, className = '', onText, ...input }: TextFieldProps) {
  return (
    <label className={`field ${className} ${problem === null ? '' : 'is-wrong'}`.replaceAll(/ +/g, ' ').trim()}>
      <span>{label}</span>
      <input {...input} onChange={(event) => onText(event.target.value)} />
      {problem !== null && <small role="alert">{problem}</small>}
    </label>
  );
}

interface SelectFieldProps<V extends string> {
  label: string;
  value: V;
  /** Value and words of each. */
  options: readonly (readonly string[])[];
  onValue: (value: V) => void;
}

export function SelectField<V extends string>({ label, value, options, onValue }: SelectFieldProps<V>) {
  return (
    <label className="field">
      <span>{label}</span>
      <Select value={value} options={options} onValue={onValue} />
    </label>
  );
}

interface SelectProps<V extends string> extends Omit<SelectFieldProps<V>, 'label'> {
  'aria-label'?: string;
  className?: string;
}

export function Select<V extends string>({ options, onValue, ...select }: SelectProps<V>) {
  return (
    <select {...select} onChange={(event) => onValue(event.target.value as V)}>
      {options.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}

interface CheckFieldProps {
  label: string;
  checked: boolean;
  onCheck: (isOn: boolean) => void;
}

export function CheckField({ label, checked, onCheck }: CheckFieldProps) {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} onChange={(event) => onCheck(event.target.checked)} />
      <span>{label}</span>
    </label>
  );
}

interface RadiosProps<V extends string> {
  /** Not shown. */
  label: string;
  value: V | null;
  options: readonly (readonly string[])[];
  onValue: (value: V) => void;
}

/** One of a few, all in sight. */
export function Radios<V extends string>({ label, value, options, onValue }: RadiosProps<V>) {
  const name = useId();
  return (
    <fieldset className="kinds">
      <legend className="hidden">{label}</legend>
      {options.map(([each, words]) => (
        <label key={each}>
          <input type="radio" name={name} checked={each === value} onChange={() => onValue(each as V)} />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface ChecksProps<V extends string> {
  label: string;
  all: readonly V[];
  /** Before the choices. */
  children?: ReactNode;
  chosen: readonly V[];
  wordsOf?: (one: V) => string;
  onChange: (chosen: V[]) => void;
}

/** Any of several. */
export function Checks<V extends string>({ label, all, children, chosen, wordsOf, onChange }: ChecksProps<V>) {
  return (
    <fieldset className="entries">
      <legend>{label}</legend>
      {children}
      {all.map((one) => (
        <CheckField
          key={one}
          label={wordsOf?.(one) ?? one}
          checked={chosen.includes(one)}
          onCheck={(isOn) => onChange(isOn ? [...chosen, one] : chosen.filter((other) => other !== one))}
        />
      ))}
    </fieldset>
  );
}
