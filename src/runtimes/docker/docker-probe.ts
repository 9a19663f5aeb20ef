import { tryContainer } from '../images/try-container.ts'
import type { KeptLimits, Runtime, RuntimeProbe } from '../run/runtime.ts'
import type { DockerOptions } from './docker-options.ts'
import type { EngineFacts } from './engine.ts'

interface ReadyEngine {
  readonly facts: EngineFacts
  readonly groups: object | undefined
  readonly init: string | undefined
}

export interface DockerProbe {
  readonly runtime: Runtime
  readonly ready: () => Promise<ReadyEngine>
  readonly options: DockerOptions
}

/**
 * Reports whether an engine answers and which features it has. If a default image is configured, runs a container of it
 * and checks its isolation.
 */
export async function probeOf({ runtime, ready, options }: DockerProbe): Promise<RuntimeProbe> {
  try {
    const engine = await ready()
    const { facts } = engine
    if (facts.os !== 'linux') throw new Error(`the engine runs containers of ${facts.os} only`)
    const tried =
      options.images.image === undefined ? NOT_TRIED : await tryContainer(runtime, options, secured(facts, options))
    const keeps = { network: true, readOnly: true, rootfs: false, control: false, terminal: false }
    const notes = [facts.words, ...(tried === undefined ? [] : [tried]), ...shortfalls(engine)]
    // Without a seccomp filter a container isolates by namespaces only.
    return {
      works: true,
      isolation: facts.hasSeccomp ? 'container' : 'namespaces',
      limits: keptLimits(facts),
      keeps,
      notes,
      networkProblem: () => networkProblemOf(facts, options),
    }
  } catch (error) {
    return { works: false, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** Containers belong to the engine's user: only that user can give them a network. */
async function networkProblemOf({ isRootless }: EngineFacts, { networks, isRoot }: DockerOptions) {
  if (networks === undefined) return 'this worker grants none'
  if (networks.isMachine || isRoot || isRootless) return await networks.problem(undefined)
  return 'the engine runs as root, so only a worker that is root can give its containers a network'
}

const NOT_TRIED = 'no container was tested, because no default image is set'

/**
 * The output that a correctly secured container prints: its user, no capabilities, no_new_privs, and a filter if the
 * engine has one.
 */
const secured = ({ isRootless, hasSeccomp }: EngineFacts, { user }: DockerOptions) => ({
  script: 'id -u; sed -n "s/^\\(CapEff\\|CapBnd\\|NoNewPrivs\\|Seccomp\\):\\s*//p" /proc/self/status',
  says: `${isRootless ? 0 : user.uid}\n${'0'.repeat(16)}\n${'0'.repeat(16)}\n1\n${hasSeccomp ? 2 : 0}\n`,
})

const keptLimits = ({ limits }: EngineFacts): KeptLimits => ({
  wallMs: 'all',
  cpuMs: 'watched',
  memoryBytes: limits.memory ? 'all' : 'watched',
  pids: limits.pids ? 'all' : 'not',
  fileBytes: 'each',
  outputBytes: 'all',
  openFiles: 'each',
  diskBytes: 'watched',
  outputFloodBytes: 'all',
  cpus: limits.cpus ? 'all' : 'not',
})

const shortfalls = ({ facts: { limits, hasSeccomp }, groups, init }: ReadyEngine): readonly string[] =>
  [
    !hasSeccomp && 'the engine does not filter system calls',
    !limits.memory && 'memory is sampled: short peaks are missed',
    limits.memory && !limits.swap && 'the engine cannot keep containers from swap',
    !limits.pids && 'the number of processes is not limited',
    !limits.cpus && 'a share of processors cannot be limited',
    init === undefined && 'a command can write to the memory of process 1: no docker-init or catatonit was found',
    groups === undefined && 'processor time and memory are sampled',
  ].filter((note) => note !== false)
