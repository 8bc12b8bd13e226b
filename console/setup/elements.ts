type Child = Node | string | null | undefined | false;
type Attributes = Readonly<Record<string, string | boolean | null>>;

/** Makes an element. Texts become text, never markup. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function button(text: string, act: () => void, { main = false, disabled = false } = {}): HTMLButtonElement {
  const element = make('button', { type: 'button', class: main ? 'main' : null, disabled }, text);
  element.addEventListener('click', act);
  return element;
}

interface Field {
  name: string;
  label: string;
  help: string;
  wrong?: string | null;
  value?: string;
  type?: string;
  inputmode?: string;
}

/** A labelled input; what is wrong with it stands below it. */
export function field({ name, label, help, wrong = null, value = '', type = 'text', inputmode }: Field): HTMLElement {
  const input = make('input', {
    id: name,
    name,
    type,
    value,
    inputmode: inputmode ?? null,
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    'aria-describedby': `${name}-help`,
    'aria-invalid': wrong === null ? null : 'true',
  });
  return make(
    'div',
    { class: 'field' },
    make('label', { for: name }, label),
    input,
    make(
      'span',
      { id: `${name}-help` },
      make('span', { class: 'soft' }, help),
      wrong && make('span', { class: 'wrong' }, wrong),
    ),
  );
}

/** A form whose one button is in its last row. */
export function form(
  submit: string,
  disabled: boolean,
  send: (values: Record<string, string>) => void,
  ...children: Child[]
): HTMLElement {
  const element = make(
    'form',
    { novalidate: true },
    ...children,
    make('div', { class: 'row' }, make('button', { type: 'submit', class: 'main', disabled }, submit)),
  );
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    const values = [...new FormData(element)].map(([name, value]) => [
      name,
      typeof value === 'string' ? value.trim() : '',
    ]);
    send(Object.fromEntries(values) as Record<string, string>);
  });
  return element;
}
