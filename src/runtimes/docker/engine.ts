import type { Socket } from 'node:net'
import { FaultError } from '../../base/fault.ts'
import { type EngineAnswer, type EngineSocket, engineMessage, refused } from './engine-socket.ts'
import { onceMade } from './once-made.ts'

/** The requests of the Engine API that Docker and Podman both implement. */
export interface ContainerEngine {
  facts(): Promise<EngineFacts>
  create(name: string, body: object): Promise<string>
  /** Input is sent to standard input; both outputs are received as frames. The stream ends with the container. */
  attach(id: string, hasInput: boolean): Promise<Socket>
  /** Returns the error; undefined when the container was started. */
  start(id: string): Promise<string | undefined>
  state(id: string): Promise<ContainerState>
  kill(id: string): Promise<void>
  /** Removes a container with its volumes, running or not. Succeeds when the container does not exist. */
  remove(id: string): Promise<void>
  /** Lists containers with this label, running or not. */
  labelled(label: string): Promise<readonly string[]>
  image(name: string): Promise<EngineImage | undefined>
  /** Returns the error; undefined when the image was pulled. */
  pull(from: string, tag: string, withinMs: number): Promise<string | undefined>
  /** Returns false when a container uses the image. */
  removeImage(name: string): Promise<boolean>
}

export interface EngineFacts {
  /** For example "Docker 20.10.24". */
  readonly words: string
  readonly isPodman: boolean
  readonly isRootless: boolean
  readonly os: string
  readonly cgroupVersion: 1 | 2
  readonly cgroupDriver: string
  readonly hasSeccomp: boolean
  readonly limits: { readonly memory: boolean; readonly swap: boolean; readonly pids: boolean; readonly cpus: boolean }
}

export interface ContainerState {
  readonly isRunning: boolean
  /** The pid of the first process in the engine's namespace; 0 when there is none. */
  readonly pid: number
  readonly exitCode: number
  readonly isOutOfMemory: boolean
  /** The engine's error message for a container that failed. */
  readonly error: string
}

export interface EngineImage {
  readonly id: string
  readonly bytes: number
  /** The volumes that the image declares. */
  readonly volumes: readonly string[]
  readonly entrypoint: readonly string[]
}

/**
 * The first API version that has all requests used here. Engines drop old versions over time; a newer version works
 * too.
 */
const VERSION = [1, 41] as const

export function engineBy(socket: EngineSocket): ContainerEngine {
  const prefix = onceMade(() => versionOf(socket))
  const versioned = async (path: string): Promise<string> => (await prefix()) + path
  const ask = async (method: 'GET' | 'POST' | 'DELETE', path: string, more: object = {}): Promise<EngineAnswer> =>
    socket.ask({ method, path: await versioned(path), ...more })
  const get = async (path: string): Promise<Json> => parsed(await ask('GET', path))
  return {
    facts: async () => factsOf(await get('/info'), parsed(await socket.ask({ method: 'GET', path: '/version' }))),
    async create(name, body) {
      const answer = await ask('POST', `/containers/create?name=${encodeURIComponent(name)}`, { body })
      return String(parsed(answer).Id)
    },
    attach: async (id, hasInput) =>
      socket.upgrade(await versioned(`/containers/${id}/attach?stream=1&stdout=1&stderr=1&stdin=${hasInput ? 1 : 0}`)),
    async start(id) {
      const answer = await ask('POST', `/containers/${id}/start`)
      return answer.status < 400 ? undefined : engineMessage(answer)
    },
    state: async (id) => stateOf(await get(`/containers/${id}/json`)),
    async kill(id) {
      const answer = await ask('POST', `/containers/${id}/kill?signal=SIGKILL`)
      if (answer.status >= 500) throw refused(answer) // 404 and 409: the container has already ended
    },
    async remove(id) {
      const answer = await ask('DELETE', `/containers/${id}?force=1&v=1`)
      if (answer.status >= 400 && answer.status !== 404 && answer.status !== 409) throw refused(answer)
    },
    async labelled(label) {
      const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
      const all = (await get(`/containers/json?all=1&filters=${filters}`)) as unknown as readonly Json[]
      return all.map(({ Id }) => String(Id))
    },
    async image(name) {
      const answer = await ask('GET', `/images/${name}/json`)
      return answer.status === 404 ? undefined : imageOf(parsed(answer))
    },
    async pull(from, tag, withinMs) {
      const path = `/images/create?fromImage=${encodeURIComponent(from)}&tag=${encodeURIComponent(tag)}`
      const answer = await ask('POST', path, { withinMs })
      return answer.status >= 400 ? engineMessage(answer) : errorIn(answer.text)
    },
    async removeImage(name) {
      const answer = await ask('DELETE', `/images/${name}`)
      if (answer.status >= 500) throw refused(answer)
      return answer.status < 400 || answer.status === 404
    },
  }
}

type Json = { readonly [name: string]: unknown }

function parsed(answer: EngineAnswer): Json {
  if (answer.status >= 400 || answer.status < 200) throw refused(answer)
  try {
    return JSON.parse(answer.text) as Json
  } catch {
    throw new FaultError({
      kind: 'unavailable',
      what: 'the container engine returned a response that is not JSON',
    })
  }
}

async function versionOf(socket: EngineSocket): Promise<string> {
  const { ApiVersion, MinAPIVersion } = parsed(await socket.ask({ method: 'GET', path: '/version' }))
  const [newest, oldest] = [ApiVersion, MinAPIVersion].map((text) =>
    String(text ?? '')
      .split('.')
      .map(Number),
  )
  const isBefore = (a: readonly number[] = [], b: readonly number[] = []): boolean =>
    (a[0] ?? 0) < (b[0] ?? 0) || (a[0] === b[0] && (a[1] ?? 0) < (b[1] ?? 0))
  if (isBefore(newest, VERSION))
    throw new FaultError({ kind: 'unavailable', what: `the engine speaks ${ApiVersion} only` })
  const version = isBefore(VERSION, oldest) ? oldest : VERSION
  return `/v${version?.join('.')}`
}

const objectIn = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

function factsOf(info: Json, version: Json): EngineFacts {
  const parts = Array.isArray(version.Components) ? version.Components.map((part) => String(objectIn(part).Name)) : []
  const isPodman = parts.some((name) => name.includes('Podman'))
  const options = Array.isArray(info.SecurityOptions) ? info.SecurityOptions.map(String) : []
  const isRootless = info.Rootless === true || options.some((option) => option.startsWith('name=rootless'))
  const cgroupVersion = String(info.CgroupVersion) === '2' ? 2 : 1
  // An ordinary user has no groups of version 1, so the limits that the engine reports for the machine do not apply.
  const can = (name: string): boolean => info[name] === true && !(isRootless && cgroupVersion === 1)
  return {
    words: `${isPodman ? 'Podman' : 'Docker'} ${String(version.Version)}${isRootless ? ', rootless' : ''}`,
    isPodman,
    isRootless,
    os: String(info.OSType ?? 'linux'),
    cgroupVersion,
    cgroupDriver: String(info.CgroupDriver),
    hasSeccomp: options.some((option) => option.startsWith('name=seccomp')),
    limits: {
      memory: can('MemoryLimit'),
      swap: can('SwapLimit'),
      pids: can('PidsLimit'),
      cpus: can('CpuCfsQuota'),
    },
  }
}

function stateOf(container: Json): ContainerState {
  const state = objectIn(container.State)
  return {
    isRunning: state.Running === true || state.Status === 'running' || state.Status === 'stopping',
    pid: Number(state.Pid ?? 0),
    exitCode: Number(state.ExitCode ?? 0),
    isOutOfMemory: state.OOMKilled === true,
    error: String(state.Error ?? ''),
  }
}

function imageOf(image: Json): EngineImage {
  const { Volumes, Entrypoint } = objectIn(image.Config)
  return {
    id: String(image.Id),
    bytes: Number(image.Size ?? 0),
    volumes: Object.keys(objectIn(Volumes)),
    entrypoint: Array.isArray(Entrypoint) ? Entrypoint.map(String) : [],
  }
}

/** A pull reports progress as lines of JSON, and a failure as one of those lines with HTTP status 200. */
function errorIn(text: string): string | undefined {
  for (const line of text.split('\n')) {
    const [, words] = /"error"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(line) ?? []
    if (words !== undefined) return String(JSON.parse(words))
  }
  return undefined
}
