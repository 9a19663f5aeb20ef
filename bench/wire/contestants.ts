/** The contestants. Each is a separate process, so that its CPU time can be measured. */
import { startChild } from '../child.ts'
import type { ServerQuestion, Usage } from './servers/echo.ts'

export const CONTESTANTS = ['windlass', 'grpc-js', 'node:http2'] as const
export type ContestantName = (typeof CONTESTANTS)[number]

const FILES: Record<ContestantName, URL> = {
  windlass: new URL('./servers/windlass.ts', import.meta.url),
  'grpc-js': new URL('./servers/grpc-js.ts', import.meta.url),
  'node:http2': new URL('./servers/node-http2.ts', import.meta.url),
}

export interface Contestant extends AsyncDisposable {
  readonly name: ContestantName
  readonly port: number
  usage(): Promise<Usage>
}

export async function startContestant(name: ContestantName): Promise<Contestant> {
  const child = startChild(FILES[name])
  const port = await child.ask<number>({ ask: 'port' } satisfies ServerQuestion)
  return {
    name,
    port,
    usage: () => child.ask<Usage>({ ask: 'usage' } satisfies ServerQuestion),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
