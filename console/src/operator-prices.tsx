import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { admin, type AdminSchemas, curlOf, dataOf } from './api.ts';
import { Button } from './controls.tsx';
import { Dialog, FormDialog, useRun } from './dialog.tsx';
import { Bar } from './panes.tsx';
import { TableBox } from './parts.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';
import { Empty, Loading } from './ui.tsx';

type Replaced = AdminSchemas['ReplacedRatesData'];

const PATH = '/api/admin/v1/rates';
const FORM = 'countries,category,tier_from,price,currency,valid_from';

/** The prices with which costs are estimated. */
export function PricesPage() {
  const can = useCan();
  const [isReplacing, setReplacing] = useState(false);
  const rates = useData(['operator', 'rates'], (signal) => admin.GET(PATH, { signal }));
  const rows = rates.data ?? [];
  return (
    <div className="overview operator">
      <Bar title="Prices" curl={curlOf('GET', PATH)}>
        {can('operator:billing:write') && <Button label="Replace" onClick={() => setReplacing(true)} />}
      </Bar>
      <Loading of={rates} lines={10} />
      {rates.isSuccess && rows.length === 0 && (
        <Empty
          title="No prices yet"
          says="Without prices no cost is estimated, and no workspace can have a limit of spending."
        />
      )}
      {rows.length > 0 && (
        <TableBox label="Prices" columns={['Countries', 'Category', 'From message', 'Valid from']} figures={['Price']}>
          {rows.map((rate) => (
            <tr key={[rate.countries, rate.category, rate.tier_from, rate.valid_from].join(' ')}>
              <td className="group">{rate.countries.join(', ')}</td>
              <td>{rate.category.replaceAll('_', ' ')}</td>
              <td>{rate.tier_from.toLocaleString()}</td>
              <td>{rate.valid_from}</td>
              <td className="number">
                {rate.price} {rate.currency}
              </td>
            </tr>
          ))}
        </TableBox>
      )}
      {isReplacing && <ReplacePrices onClose={() => setReplacing(false)} />}
    </div>
  );
}

function ReplacePrices({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [csv, setCsv] = useState('');
  const [done, setDone] = useState<Replaced | null>(null);
  const form = useRun();
  const submit = async (): Promise<void> => {
    const { data } = await dataOf(admin.PUT(PATH, { body: { csv } }));
    await queries.invalidateQueries({ queryKey: ['operator', 'rates'] });
    setDone(data);
  };
  if (done !== null) {
    return (
      <Dialog title="The prices are replaced" onClose={onClose}>
        <p>There are {done.prices} prices now.</p>
        {done.unpriced.map(({ category, countries, messages }) => (
          <p key={category} className="check-line warn">
            {category} to {countries.join(', ')} has no price: {messages.toLocaleString()} messages since last month.
          </p>
        ))}
        <div className="row">
          <Button primary label="Close" onClick={onClose} />
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Replace all prices"
      label="Replace"
      disabled={csv.trim() === ''}
      form={form}
      submit={submit}
      onClose={onClose}
    >
      <label className="field">
        <span>A price a line, comma-separated, with a header: docs/usage.md shows the form</span>
        <textarea
          rows={10}
          spellCheck={false}
          placeholder={FORM}
          value={csv}
          onChange={(event) => setCsv(event.target.value)}
        />
      </label>
    </FormDialog>
  );
}
