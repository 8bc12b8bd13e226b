/** What a send must give, or gave, at one place. */
export interface ParameterShape {
  component: 'header' | 'body' | 'button' | 'carousel' | 'limited_time_offer';
  /** Place of the card, from 0, where the component is a card's. */
  card?: number;
  /** Place of the button, from 0. */
  index?: number;
  sub_type?: string;
  /** Place of the parameter in a text's parameters, from 0. */
  parameter?: number;
  /** Kind of the parameter: `text`, `image` ... */
  type?: string;
  /**
   * What the value must be or is: expected `text` or `single_line`; given `empty`, `missing`, the type of the JSON value,
   * or what makes more than a line of it: `line_break`, `tab`, `five_spaces`.
   */
  value?: string;
  /** How many. */
  parameters?: number;
  cards?: number;
  /** Names, where the template's variables have names. */
  names?: string[];
}

/** Why the platform would refuse the parameters of a send. */
export interface ParameterMismatch {
  expected: ParameterShape;
  given: ParameterShape;
  /** One sentence that says what to do. */
  message: string;
}
