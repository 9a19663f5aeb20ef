import { chmodSync, mkdtempSync, realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import type { BuiltRootfs } from '../../languages/built-rootfs.ts'
import type { Language } from '../../model/language.ts'
import type { Launcher } from '../../runtimes/launcher/launcher.ts'
import { localLauncher } from '../../runtimes/launcher/local-launcher.ts'
import { OWN_USER } from '../../runtimes/open-runtime.ts'
import { removeTree } from '../../runtimes/remove/remove-tree.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { gridAttempts } from '../../worker/attempt/grid-attempts.ts'
import type { AttemptTools } from '../../worker/attempt/pipeline.ts'
import { attemptPipeline } from '../../worker/attempt/pipeline.ts'
import { remoteTarget } from '../../worker/cas/remote-target.ts'
import { openFileCache } from '../../worker/inputs/file-cache.ts'
import { inputStage } from '../../worker/inputs/stage-inputs.ts'
import { storeSource } from '../../worker/inputs/store-source.ts'
import { languageMarks } from '../../worker/languages/language-marks.ts'
import type { LanguageReport } from '../../worker/languages/language-report.ts'
import { type OfferedLanguages, offeredLanguages } from '../../worker/languages/offered-languages.ts'
import { rooted } from '../../worker/languages/rooted-runtime.ts'
import { type SelfTestResults, selfTestResultsIn } from '../../worker/languages/self-test-results.ts'
import { trialInRooms } from '../../worker/languages/trial-in-rooms.ts'
import { outputCollector } from '../../worker/outputs/collect-outputs.ts'
import { openRooms, sameUser } from '../../worker/rooms/rooms.ts'
import type { Backend } from '../config/backends.ts'
import { network } from '../config/network.ts'
import { worker } from '../config/worker.ts'
import { lastingClock, systemClock } from '../process/clock.ts'
import { toolchainFolders } from '../process/language-folders.ts'
import { version } from '../process/version.ts'
import { openBackend } from './runtime.ts'

export interface LanguageMachineOptions {
  readonly backend: Backend
  readonly languages: readonly Language[]
  readonly rootfs: ReadonlyMap<string, BuiltRootfs>
  /** The file with the results of earlier self-tests; without one, all are run and none is recorded. */
  readonly results?: string
  /** Runs all self-tests, regardless of recorded results. */
  readonly anew?: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called for each tested language. */
  readonly onTested?: (report: LanguageReport) => void
}

/** Tests languages on this machine as a worker would, without a server, in rooms that are removed at the end. */
export interface LanguageMachine extends OfferedLanguages {
  /** For example `sandbox`. */
  readonly runtime: string
  close(): Promise<void>
}

const OUTPUT_BYTES = 1 << 20
const CACHE_BYTES = 64 << 20
const RULES = { mostNodes: 100_000, absoluteSymlinks: 'allowed' } as const

export async function openLanguageMachine(options: LanguageMachineOptions): Promise<LanguageMachine> {
  await prepareHashing()
  await using opening = new AsyncDisposableStack()
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'windlass-languages-'))
  opening.defer(() => removeTree(folder))
  chmodSync(folder, 0o711) // it contains rooms of another user
  const { tools, probe, runtime } = await toolsIn(folder, options, opening)
  let tried = 0
  const offered = offeredLanguages({
    languages: options.languages,
    trial: trialInRooms({
      executor: attemptPipeline(tools),
      clock: tools.clock,
      roomName: () => `language-${++tried}`,
      isolation: probe.isolation,
    }),
    results: resultsFor(options),
    ...(options.onTested && { tested: options.onTested }),
    markOf: languageMarks({
      rootfs: options.rootfs,
      takesRootfs: probe.keeps.rootfs,
      hasMachine: probe.isolation !== 'container',
      others: [version(), runtime.name, probe.isolation],
    }),
    clock: systemClock,
  })
  const open = opening.move()
  return { ...offered, runtime: runtime.name, close: () => open.disposeAsync() }
}

function resultsFor({ results, anew }: LanguageMachineOptions): SelfTestResults {
  const none: SelfTestResults = { recall: () => undefined, remember() {} }
  const noted = results === undefined ? none : selfTestResultsIn(results)
  return anew === true ? { ...noted, recall: none.recall } : noted
}

/** The stack closes everything that was opened, last first. */
async function toolsIn(folder: string, options: LanguageMachineOptions, opening: AsyncDisposableStack) {
  const bulk = threadPool(1)
  opening.defer(() => bulk.close())
  const launcher = await launcherIn(join(folder, 'launcher'))
  opening.defer(() => launcher.close())
  const uid = process.getuid?.() ?? 0
  const user = uid === 0 ? OWN_USER : undefined
  const { runtime, probe, close } = await openBackend(options.backend, {
    ...{
      worker: basename(folder),
      containers: worker.parse({}).docker,
      network: network.parse({}),
      surroundings: options.env,
      launcher,
    },
    ...{ clock: systemClock, env: [], outputBytes: OUTPUT_BYTES, folder: join(folder, 'runtime'), arch: process.arch },
    ...{ uid, user, readable: toolchainFolders() },
  })
  opening.defer(close)
  const rooms = await openRooms(join(folder, 'rooms'), sameUser(user))
  opening.defer(() => rooms.cleared())
  const cache = await openFileCache(join(folder, 'cache'), CACHE_BYTES)
  opening.defer(() => cache.close())
  const store = memoryStore()
  const placed = { cache, bulk, placement: 'copy', user, rules: RULES, directoryBytes: CACHE_BYTES } as const
  const rootfsOf = (name: string): string | undefined => options.rootfs.get(name)?.path
  const tools: AttemptTools = {
    ...{ rooms, clock: systemClock, worker: 'languages', limits: {}, isolation: probe.isolation },
    inputs: inputStage({ source: storeSource(store), ...placed }),
    runtime: probe.keeps.rootfs ? rooted(runtime, rootfsOf) : runtime,
    ...gridAttempts,
    outputs: outputCollector({ bulk, rules: { ...RULES, mostBytes: CACHE_BYTES } }),
    target: remoteTarget(store),
    inlineBytes: OUTPUT_BYTES,
  }
  return { tools, probe, runtime }
}

async function launcherIn(folder: string): Promise<Launcher> {
  await mkdir(folder, { mode: 0o711 })
  return localLauncher({
    name: basename(dirname(folder)),
    folder,
    useGroups: true,
    clock: lastingClock,
    send: (pid, name) => void process.kill(pid, name),
  })
}
