import type { RunningServer } from '../app/server.ts'
import type { Terminal } from '../app/terminal.ts'
import { version } from '../app/version.ts'

interface ReadyWords {
  /** What there is beside the server. */
  readonly withWhat: string
  /** What to do next, for people. */
  readonly next: string
  readonly json: boolean
}

/** Says that a server is ready and where: to people, to a log, or as the line of JSON that programs wait for. */
export function tellReady({ grpc, http, httpUrl, health }: RunningServer, said: ReadyWords, terminal: Terminal): void {
  if (said.json) return terminal.out(`${JSON.stringify({ ready: true, grpc, http, health })}\n`)
  if (!terminal.outIsTerminal) return terminal.out(`windlass ${version()} is ready: gRPC on ${grpc}, HTTP on ${http}\n`)
  const width = Math.max(grpc.length, httpUrl.length) + 3
  terminal.out(`
Windlass ${version()} is ready${said.withWhat}.

  gRPC   ${grpc.padEnd(width)}Remote Execution API, workers, health, reflection
  HTTP   ${httpUrl.padEnd(width)}/play, /api, /healthz, /readyz, /metrics, /cas/, /ac/

${said.next} Ctrl+C stops it.

`)
}
