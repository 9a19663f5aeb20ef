/** A third-party client of our server: its name and its check. */
export interface Client {
  readonly name: string
  /** Returns a description of the operations that worked; throws a Skip when the client is not available here. */
  check(server: ServerAddress, folder: string): Promise<string>
}

/** `127.0.0.1:8980` */
export type ServerAddress = string

/** The reason why a client was not tried. */
export class Skip extends Error {}
