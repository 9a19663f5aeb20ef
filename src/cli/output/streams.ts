import type { CasClient } from '../../client/cas/cas-client.ts'
import { blobPieces } from '../../client/cas/cas-read.ts'
import type { OutputStream } from '../../model/action-result.ts'

const UNHEARD = { found() {}, moved() {}, held() {} }

/** Standard output or error of a result, from its start: inlined in the message, or from the store. */
export async function* streamPieces(client: CasClient, { raw, digest }: OutputStream): AsyncGenerator<Uint8Array> {
  if (raw !== undefined) yield raw
  else if (digest !== undefined) yield* blobPieces(client, digest, UNHEARD)
}
