import type { Config } from '../../app/config/config.ts'
import type { FlagSetting } from '../../app/config/load.ts'
import { systemClock } from '../../app/process/clock.ts'
import { onHangup } from '../../app/process/hangup.ts'
import { whenInputEnds } from '../../app/process/parent.ts'
import { runUntilSignal, type SignalSource, type Stoppable } from '../../app/process/shutdown.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { type WorkerStatus, workerStatusLine } from '../../app/process/worker-status.ts'
import { languagesToOffer } from '../../app/worker/languages.ts'
import { type RegisteredWorker, startWorker } from '../../app/worker/worker.ts'
import { type Fault, FaultError, invalid } from '../../base/fault.ts'
import { configured } from '../server/configured.ts'
import { headersOf } from '../session/dial.ts'
import type { DialOptions } from '../session/dial-flags.ts'

export interface DaemonFlags extends DialOptions {
  readonly serverUrl?: string
  readonly casUrl?: string
  readonly protocol?: string
  readonly backend?: string
  readonly whileInput?: boolean
  readonly config?: string
  readonly slots?: string
  readonly id?: string
  readonly data?: string
  readonly allowBareSnippets?: true
  readonly json?: true
  readonly verbose?: true
}

export async function runWorkerDaemon(flags: DaemonFlags, terminal: Terminal): Promise<void> {
  try {
    await runDaemon(flags, terminal)
  } catch (error) {
    // The parent command reports it, too, and decides whether to restart.
    if (flags.whileInput === true) terminal.out(workerStatusLine(failed(error)))
    throw error
  }
}

function failed(error: unknown): WorkerStatus {
  const isLasting = error instanceof FaultError && LASTING.includes(error.fault.kind)
  return { kind: 'failed', what: error instanceof Error ? error.message : String(error), isLasting }
}

/** Kinds of failure that a restart would repeat. */
const LASTING: readonly Fault['kind'][] = ['invalid', 'denied']

/** Reports readiness once to a user or program; to the `windlass up` that started it at every change. */
function reporter(flags: DaemonFlags, { out }: Terminal, url: string): (as: RegisteredWorker) => void {
  let isReady = false
  return ({ slots, ...registered }) => {
    if (flags.whileInput === true) return out(workerStatusLine({ kind: 'registered', ...registered }))
    if (isReady) return
    isReady = true
    const { worker } = registered
    if (flags.json === true) out(`${JSON.stringify({ ready: true, worker, slots })}\n`)
    else out(`worker ${worker} takes up to ${slots} tasks at a time from ${url}\n`)
  }
}

async function runDaemon(flags: DaemonFlags, terminal: Terminal): Promise<void> {
  const { config, log, load } = await configured(flags.config, settingsOf(flags), terminal)
  const { signals, end } = endable(terminal.signals)
  if (flags.whileInput === true) whenInputEnds(end)
  let failure: Error | undefined
  let isStopping = false
  let reloadTls = (_files: Config['worker']['tls']): void => {}
  const forget = onHangup(() => {
    try {
      const next = load()
      reloadTls(next.worker.tls)
      log.setLevel(next.log.level)
      log.info({}, 'log level and certificates reloaded; other worker settings need a restart')
    } catch (error) {
      log.error({ err: error }, 'settings not reloaded: nothing was changed')
    }
  })
  const start = async (): Promise<Stoppable> => {
    const languages = languagesToOffer(config.server.data_dir, config.worker.languages)
    const registered = reporter(flags, terminal, config.worker.server_url)
    const waits = (what: string): void => {
      if (flags.whileInput === true) terminal.out(workerStatusLine({ kind: 'waiting', what }))
    }
    const here = { clock: systemClock, log, env: terminal.env, languages, registered, waits }
    const worker = await startWorker(config, here)
    reloadTls = worker.reloadTls
    void worker.ended
      .catch((error: Error) => {
        failure = error
      })
      .then(() => {
        if (!isStopping) end()
      })
    return {
      async stop(signal) {
        isStopping = true
        // Clouds, Slurm and Kubernetes send SIGTERM before they stop a machine; Ctrl+C lets tasks finish.
        if (failure === undefined) await (signal === 'SIGTERM' ? worker.preempt() : worker.stop())
      },
    }
  }
  await runUntilSignal(start, { signals, clock: systemClock, log }).finally(forget)
  if (failure !== undefined) throw failure
}

function settingsOf(flags: DaemonFlags): FlagSetting[] {
  const slots = flags.slots === undefined ? undefined : Number(flags.slots)
  if (slots !== undefined && !Number.isSafeInteger(slots)) throw invalid(`--slots: ${flags.slots} is not a number`)
  const given: FlagSetting[] = [
    { flag: '--server', key: 'worker.server_url', value: flags.serverUrl ?? flags.server },
    // With a server on the command line, a store in the file belongs to another server.
    { flag: '--cas-url', key: 'worker.cas_url', value: flags.casUrl ?? flags.serverUrl ?? flags.server },
    { flag: '--ca', key: 'worker.tls.ca_file', value: flags.ca },
    { flag: '--cert', key: 'worker.tls.cert_file', value: flags.cert },
    { flag: '--key', key: 'worker.tls.key_file', value: flags.key },
    { flag: '--header', key: 'worker.headers', value: flags.header && headersOf(flags.header) },
    { flag: '--protocol', key: 'worker.protocol', value: flags.protocol },
    { flag: '--backend', key: 'worker.backend', value: flags.backend },
    { flag: '--slots', key: 'worker.max_concurrent_tasks', value: slots },
    { flag: '--id', key: 'worker.worker_id', value: flags.id },
    { flag: '--data', key: 'server.data_dir', value: flags.data },
    { flag: '--allow-bare-snippets', key: 'snippets.allow_bare', value: flags.allowBareSnippets },
    { flag: '--verbose', key: 'log.level', value: flags.verbose === true ? 'debug' : undefined },
  ]
  return given.filter(({ value }) => value !== undefined)
}

/** The server may end a worker as well as a signal: both resolve the same promise. */
function endable(signals: SignalSource): { readonly signals: SignalSource; end(): void } {
  const listeners = new Set<Parameters<SignalSource['on']>[1]>()
  return {
    signals: {
      on(signal, listener) {
        signals.on(signal, listener)
        listeners.add(listener)
      },
      off(signal, listener) {
        signals.off(signal, listener)
        listeners.delete(listener)
      },
      exit: (code) => signals.exit(code),
    },
    end() {
      for (const listener of listeners) listener('SIGTERM')
    },
  }
}
