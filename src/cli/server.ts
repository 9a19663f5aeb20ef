import { Command } from 'commander'
import type { RunningServer } from '../app/server.ts'
import type { Terminal } from '../app/terminal.ts'
import { version } from '../app/version.ts'
import { bazelAddress } from './bazel-address.ts'
import { addSettingFlags, givenFlags } from './setting-flags.ts'

const EXAMPLES = `
Examples:
  windlass server                                         on this machine only: gRPC on 8980, HTTP on 8080
  windlass server --grpc 127.0.0.1:0 --http 127.0.0.1:0   on free ports, which the ready line names
  windlass server --grpc unix:/run/windlass.sock          on a socket file
  windlass server --config windlass.toml --insecure       as the file says, open to a network that you trust`

interface Options extends Readonly<Record<string, unknown>> {
  readonly config?: string
  readonly json?: true
}

export const serverCommand = (terminal: Terminal): Command =>
  addSettingFlags(new Command('server'))
    .description('start a server')
    .option('--json', 'print one line of JSON when ready')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => serve(options, terminal))

async function serve(options: Options, terminal: Terminal): Promise<void> {
  const { loadConfig } = await import('../app/config-load.ts')
  const { env, home, errIsTerminal, signals } = terminal
  const { config, notes } = loadConfig({ file: options.config, env, home, flags: givenFlags(options) })

  const { createLogger } = await import('../app/logger.ts')
  const log = await createLogger(config.log, errIsTerminal)
  for (const { level, what, keys } of notes) log[level]({ keys }, what)

  const { startServer } = await import('../app/server.ts')
  const { systemClock } = await import('../app/clock.ts')
  const { runUntilSignal } = await import('../app/shutdown.ts')
  const start = async () => {
    const server = await startServer(config, { log, clock: systemClock })
    terminal.out(options.json ? readyJson(server) : readyText(server, terminal.outIsTerminal))
    return server
  }
  await runUntilSignal(start, { signals, clock: systemClock, log })
}

const readyJson = ({ grpc, http }: RunningServer): string => `${JSON.stringify({ ready: true, grpc, http })}\n`

function readyText({ grpc, http, httpUrl }: RunningServer, forPeople: boolean): string {
  if (!forPeople) return `windlass ${version()} is ready: gRPC on ${grpc}, HTTP on ${http}\n`
  const width = Math.max(grpc.length, httpUrl.length) + 3
  return `
Windlass ${version()} is ready.

  gRPC   ${grpc.padEnd(width)}Remote Execution API, workers, health, reflection
  HTTP   ${httpUrl.padEnd(width)}/play, /api, /healthz, /readyz, /metrics, /cas/, /ac/

To let Bazel use it as a cache, put this line into your .bazelrc:

  build --remote_cache=${bazelAddress(grpc, httpUrl)}

Ctrl+C stops it.

`
}
