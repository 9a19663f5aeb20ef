import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { BACKENDS } from '../../app/config/backends.ts'
import type { StopSignal } from '../../app/process/shutdown.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { ownTrust } from '../../app/server/own-trust.ts'
import type { RunningServer } from '../../app/server/server.ts'
import { invalid } from '../../base/fault.ts'
import { bazelAddress } from './bazel-address.ts'
import { configured } from './configured.ts'
import { printReady } from './print-ready.ts'
import { addSettingFlags, givenFlags } from './setting-flags.ts'

const EXAMPLES = `
Everything on this machine, in one command: a server, and one worker that runs what it is given. The first Ctrl+C lets
tasks finish, a second one does not wait.

Examples:
  windlass up                       gRPC on 8980, HTTP on 8080, as many tasks at a time as there are processors
  windlass up --slots 2 --data ./grid
  windlass up --backend host        commands run without isolation, for callers that you trust
  windlass server                   without a worker, for machines that only store and hand out`

interface Options extends Readonly<Record<string, unknown>> {
  readonly config?: string
  readonly json?: true
  readonly slots?: string
  readonly backend?: string
}

export const upCommand = (terminal: Terminal): Command =>
  addSettingFlags(new Command('up'))
    .description('start a server and a worker on this machine')
    .option('--slots <number>', 'tasks to run at a time (one per processor)')
    .addOption(new Option('--backend <name>', 'what commands run in').choices(BACKENDS))
    .option('--json', 'print one line of JSON when ready')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => up(options, terminal))

async function up(options: Options, terminal: Terminal): Promise<void> {
  const { slots } = options
  if (slots !== undefined && !/^[1-9]\d{0,5}$/.test(slots)) throw invalid(`--slots: ${slots} is not a number of tasks`)
  const { config, log, load } = await configured(options.config, givenFlags(options), terminal)
  const { startServer } = await import('../../app/server/server.ts')
  const { startLocalWorker } = await import('../../app/server/local-worker.ts')
  const { reloadable } = await import('../../app/server/reloadable.ts')
  const { createReadiness } = await import('../../app/server/readiness.ts')
  const { workerGate } = await import('../../app/server/worker-gate.ts')
  const { systemClock: clock } = await import('../../app/process/clock.ts')
  const { collectWhenIdle, processMemory } = await import('../../app/process/idle-memory.ts')
  const { runUntilSignal } = await import('../../app/process/shutdown.ts')
  const start = async () => {
    const readiness = createReadiness()
    const gate = workerGate(readiness, clock)
    const server = await startServer(config, { log, clock, readiness, isWorkerComing: gate.isComing })
    collectWhenIdle(clock, processMemory)
    const worker = startLocalWorker({
      command: terminal.self,
      args: workerArgs(server, { options, dataDir: config.server.data_dir }),
      // Settings of the server must not become the worker's.
      env: { ...terminal.env, ...ownTrust(config, server.grpc) },
      clock,
      log,
      ...{ reported: gate.heard, ended: gate.ended },
    })
    const { data_dir: dataDir } = config.server
    const forget = await reloadable({ load, server, dataDir, log, reloaded: worker.reload })
    const withWhat = ', with a worker on this machine'
    const words = { withWhat, next: next(server), json: options.json === true }
    void gate.opened.then(() => {
      for (const warning of readiness.state().warnings) log.warn({}, warning)
      printReady(server, words, terminal)
    })
    return {
      async stop(signal: StopSignal) {
        forget()
        gate.close()
        server.refuseTasks()
        await worker.stop(signal)
        await server.stop()
      },
    }
  }
  await runUntilSignal(start, { signals: terminal.signals, clock, log })
}

function workerArgs(
  { grpc, httpUrl }: RunningServer,
  { options, dataDir }: { readonly options: Options; readonly dataDir: string },
): string[] {
  const url = grpc.startsWith('unix:') ? grpc : `${httpUrl.startsWith('https:') ? 'https' : 'http'}://${grpc}`
  return [
    ...['--server-url', url, '--data', dataDir],
    ...(options.config === undefined ? [] : ['--config', resolve(options.config)]),
    ...(options.slots === undefined ? [] : ['--slots', options.slots]),
    ...(options.backend === undefined ? [] : ['--backend', options.backend]),
    ...(options.allowBareSnippets === true ? ['--allow-bare-snippets'] : []),
    ...(options.verbose === true ? ['--verbose'] : []),
  ]
}

const next = ({ grpc, httpUrl }: RunningServer): string => `\
To let Bazel run its actions here, put this line into your .bazelrc:

  build --remote_executor=${bazelAddress(grpc, httpUrl)}

or, to let it use the cache alone:

  build --remote_cache=${bazelAddress(grpc, httpUrl)}

Commands run in sandboxes, without a network (docs/guide/isolation.md).`
