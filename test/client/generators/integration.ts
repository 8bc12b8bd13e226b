/** What an integrator writes on top of a generated client. The program of each generator exports `connect` of this type. */
export type Connect = (baseUrl: string, apiKey: string) => Integration;

export interface Integration {
  /** @returns the ID of the accepted message */
  send(connectionId: string, to: string, body: string): Promise<string>;
  status(messageId: string): Promise<string>;
}
