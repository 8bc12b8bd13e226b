import { asText, own, ownArray, ownText } from './json-reading.js';

/**
 * The examples of a header's or body's variables, by the variables' names. Examples for `{{1}}` to `{{n}}` stand in
 * `body_text` as a list in a list, in `header_text` as a list; both forms are read in both places.
 */
export function examplesIn(component: unknown, part: 'header' | 'body'): Map<string, string> {
  const example = own(component, 'example');
  const examples = new Map<string, string>();
  const list = ownArray(example, `${part}_text`);
  const positional: readonly unknown[] = Array.isArray(list[0]) ? list[0] : list;
  for (const [index, value] of positional.entries()) {
    const text = asText(value);
    if (text !== null) examples.set(String(index + 1), text);
  }
  for (const item of ownArray(example, `${part}_text_named_params`)) {
    const name = ownText(item, 'param_name');
    const text = asText(own(item, 'example'));
    if (name !== null && text !== null) examples.set(name, text);
  }
  return examples;
}
