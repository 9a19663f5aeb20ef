import { FaultError } from '../../base/fault.ts'
import type { Runtime } from '../../runtimes/run/runtime.ts'

/** The programs `docker` and `podman`, with the environment of the user and so with the user's logins to registries. */
export interface EngineCommands {
  ask(argv: readonly string[], options?: EngineCallOptions): Promise<EngineAnswerText>
  /** Starts a program that runs until its signal is aborted; resolves when it has ended. */
  serve(argv: readonly string[], signal: AbortSignal): Promise<void>
  pause(ms: number): Promise<void>
}

export interface EngineCallOptions {
  readonly signal?: AbortSignal
  /** Standard input. */
  readonly input?: string | undefined
}

export interface EngineAnswerText {
  readonly isDone: boolean
  readonly stdout: string
  /** The last line of error output. */
  readonly problem: string
}

/** A runtime of containers that has been opened. */
export interface ContainerService extends AsyncDisposable {
  readonly runtime: Runtime
}

export interface FoundEngine extends ContainerService {
  readonly program: string
}

type Open = (socketPath: string) => Promise<ContainerService>

/** Docker where it works, then Podman; undefined where neither does. */
export async function findEngine(
  commands: EngineCommands,
  socketPath: string,
  open: Open,
): Promise<FoundEngine | undefined> {
  const socket = await dockerSocket(commands)
  if (socket !== undefined) return { program: 'docker', ...(await open(socket)) }
  if (!(await commands.ask(['podman', 'info'])).isDone) return undefined
  return { program: 'podman', ...(await podmanService(commands, socketPath, open)) }
}

/** The socket of the current context, which DOCKER_HOST overrides. An engine on another machine has none of our files. */
async function dockerSocket({ ask }: EngineCommands): Promise<string | undefined> {
  if (!(await ask(['docker', 'info'])).isDone) return undefined
  const { stdout } = await ask(['docker', 'context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'])
  return /^unix:\/\/(\/.+)$/m.exec(stdout)?.[1]
}

const ROUNDS = 200
const PAUSE_MS = 50

/** Podman has no daemon: its service runs as long as the workflow. */
async function podmanService(
  { serve, pause }: EngineCommands,
  socketPath: string,
  open: Open,
): Promise<ContainerService> {
  const closing = new AbortController()
  let hasEnded = false
  const ended = serve(['podman', 'system', 'service', '--time=0', `unix://${socketPath}`], closing.signal).finally(
    () => {
      hasEnded = true
    },
  )
  const close = async (): Promise<void> => {
    closing.abort()
    await ended
  }
  for (let round = 0; round < ROUNDS && !hasEnded; round += 1) {
    const engine = await open(socketPath).catch(() => undefined)
    if (engine === undefined) {
      await pause(PAUSE_MS)
      continue
    }
    return {
      runtime: engine.runtime,
      async [Symbol.asyncDispose]() {
        await engine[Symbol.asyncDispose]()
        await close()
      },
    }
  }
  await close()
  throw new FaultError({ kind: 'unavailable', what: `the service of podman does not answer at ${socketPath}` })
}
