import { Command } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import type { RunningServer } from '../../app/server/server.ts'
import { bazelAddress } from './bazel-address.ts'
import { configured } from './configured.ts'
import { printReady } from './print-ready.ts'
import { addSettingFlags, givenFlags } from './setting-flags.ts'

const EXAMPLES = `
Examples:
  windlass server                                         on this machine only: gRPC on 8980, HTTP on 8080
  windlass server --grpc 127.0.0.1:0 --http 127.0.0.1:0   on free ports, which the ready line names
  windlass server --grpc unix:/run/windlass.sock          on a socket file
  windlass server --config windlass.toml --insecure       settings of the file, open to a network that you trust`

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
  const { config, log, load } = await configured(options.config, givenFlags(options), terminal)
  const { startServer } = await import('../../app/server/server.ts')
  const { reloadable } = await import('../../app/server/reloadable.ts')
  const { systemClock: clock } = await import('../../app/process/clock.ts')
  const { collectWhenIdle, processMemory } = await import('../../app/process/idle-memory.ts')
  const { runUntilSignal } = await import('../../app/process/shutdown.ts')
  const start = async () => {
    const server = await startServer(config, { log, clock })
    collectWhenIdle(clock, processMemory)
    const { data_dir: dataDir } = config.server
    const forget = await reloadable({ load, server, dataDir, log })
    printReady(server, { withWhat: '', next: next(server), json: options.json === true }, terminal)
    return {
      stop() {
        forget()
        return server.stop()
      },
    }
  }
  await runUntilSignal(start, { signals: terminal.signals, clock, log })
}

const next = ({ grpc, httpUrl }: RunningServer): string => `\
To let Bazel use it as a cache, put this line into your .bazelrc:

  build --remote_cache=${bazelAddress(grpc, httpUrl)}

"windlass worker daemon" gives it a worker.`
