import { useState } from 'react';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Checks, SelectField, TextField } from './controls.tsx';
import { FormDialog, useRun } from './dialog.tsx';
import { EVENT_KINDS, type WebhookEvent } from './webhook-dialogs.tsx';

type Kind = Schemas['DestinationData']['kind'];
type Request = Schemas['CreateDestinationRequest'];

interface Field {
  name: string;
  label: string;
  placeholder?: string;
  isSecret?: true;
  isOptional?: true;
}

/** What each kind is asked for; the names are those of the API. */
const FIELDS: Readonly<Record<Kind, readonly Field[]>> = {
  nats: [
    { name: 'url', label: 'Address', placeholder: 'tls://nats.example.com:4222' },
    { name: 'subject', label: 'Subject', placeholder: 'herald.{type}' },
    { name: 'username', label: 'User, where it asks for one', isOptional: true },
    { name: 'password', label: 'Password', isSecret: true, isOptional: true },
    { name: 'token', label: 'Token, in the place of user and password', isSecret: true, isOptional: true },
  ],
  rabbitmq: [
    { name: 'url', label: 'Address', placeholder: 'amqps://rabbitmq.example.com:5671/production' },
    { name: 'exchange', label: 'Exchange', placeholder: 'herald' },
    { name: 'routing_key', label: 'Routing key; left out: the kind of event', placeholder: '{type}', isOptional: true },
    { name: 'username', label: 'User' },
    { name: 'password', label: 'Password', isSecret: true },
  ],
  sqs: [
    {
      name: 'queue_url',
      label: 'Queue',
      placeholder: 'https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo',
    },
    { name: 'region', label: 'Region', placeholder: 'eu-central-1' },
    { name: 'access_key_id', label: 'Access key id' },
    { name: 'secret_access_key', label: 'Secret access key', isSecret: true },
  ],
};

/** Asks for a destination; `onClose` gets its id, or null where none was made. */
export function NewDestination({ onClose }: { onClose: (id: string | null) => void }) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Kind>('rabbitmq');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [events, setEvents] = useState<readonly WebhookEvent[]>(['message.received', 'message.status.updated']);
  const form = useRun();
  const fields = FIELDS[kind];
  const given = (isShown: boolean): Record<string, string> =>
    Object.fromEntries(
      fields
        .filter((field) => (values[field.name] ?? '').trim() !== '')
        .map((field) => [field.name, isShown && field.isSecret ? '…' : (values[field.name] ?? '').trim()]),
    );
  const bodyOf = (isShown: boolean): Request => ({
    name: name.trim(),
    events: EVENT_KINDS.filter((each) => events.includes(each)),
    [kind]: given(isShown),
  });
  const isWhole =
    name.trim() !== '' &&
    events.length > 0 &&
    fields.every((field) => field.isOptional === true || (values[field.name] ?? '').trim() !== '');
  const make = async (): Promise<void> =>
    onClose((await dataOf(api.POST('/api/v1/destinations', { body: bodyOf(false) }))).data.id);
  return (
    <FormDialog
      title="New destination"
      className="form-dialog"
      label="Make it"
      disabled={!isWhole}
      form={form}
      submit={make}
      curl={curlOf('POST', '/api/v1/destinations', bodyOf(true))}
      onClose={() => onClose(null)}
    >
      <TextField label="Name" value={name} maxLength={64} autoComplete="off" onText={setName} />
      <SelectField
        label="Kind of broker"
        value={kind}
        options={[
          ['nats', 'NATS JetStream'],
          ['rabbitmq', 'RabbitMQ'],
          ['sqs', 'Amazon SQS'],
        ]}
        onValue={setKind}
      />
      <p className="hint">The stream, exchange or queue must be there already. Events are written from now on.</p>
      {fields.map((field) => (
        <TextField
          key={field.name}
          label={field.label}
          type={field.isSecret === true ? 'password' : 'text'}
          autoComplete="off"
          placeholder={field.placeholder}
          value={values[field.name] ?? ''}
          onText={(text) => setValues({ ...values, [field.name]: text })}
        />
      ))}
      <Checks label="Kinds of events" all={EVENT_KINDS} chosen={events} onChange={setEvents} />
    </FormDialog>
  );
}
