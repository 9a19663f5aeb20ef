/** A program that others wrote and that talks to a server of ours: what it is called, and what it must manage. */
export interface Client {
  readonly name: string
  /** Answers with what was seen to work; throws a Skip when the client cannot be had here. */
  check(server: ServerAddress, folder: string): Promise<string>
}

/** `127.0.0.1:8980` */
export type ServerAddress = string

/** Says why a client was not tried. */
export class Skip extends Error {}
