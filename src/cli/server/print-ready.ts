import type { Terminal } from '../../app/process/terminal.ts'
import { version } from '../../app/process/version.ts'
import type { RunningServer } from '../../app/server/server.ts'

interface ReadyText {
  /** Components beside the server. */
  readonly withWhat: string
  /** Suggestions for the user. */
  readonly next: string
  readonly json: boolean
}

/**
 * Reports that a server is ready and its addresses: as text, as a log line, or as the line of JSON that programs wait
 * for.
 */
export function printReady(server: RunningServer, text: ReadyText, terminal: Terminal): void {
  const { grpc, http, httpUrl, health } = server
  const { ready, reasons } = server.readiness.state()
  const why = ready ? {} : { reasons }
  if (text.json) return terminal.out(`${JSON.stringify({ ready, ...why, grpc, http, health })}\n`)
  const state = ready ? 'is ready' : `serves its cache, and is not ready (${reasons.join('; ')})`
  if (!terminal.outIsTerminal) return terminal.out(`windlass ${version()} ${state}: gRPC on ${grpc}, HTTP on ${http}\n`)
  const width = Math.max(grpc.length, httpUrl.length) + 3
  terminal.out(`
Windlass ${version()} ${state}${text.withWhat}.

  gRPC   ${grpc.padEnd(width)}Remote Execution API, workers, health, reflection
  HTTP   ${httpUrl.padEnd(width)}/play, /api, /healthz, /readyz, /metrics, /cas/, /ac/

${text.next} Ctrl+C stops it.

`)
}
