import type { Runtime } from '../../runtimes/run/runtime.ts'
import type { StepImage } from '../../services/workflows/driver/step-site.ts'
import type { Docker } from '../../workflow/tool/docker.ts'
import { type ContainerService, type EngineCommands, type FoundEngine, findEngine } from './find-engine.ts'
import { obtainImage } from './obtain-image.ts'

/** Runs commands in containers, by the socket of the Docker or Podman of this machine. */
export interface Containers {
  /** Returns the name of an image that is present, pulled or built if needed; or why there is none. */
  image(docker: Docker, signal: AbortSignal): Promise<StepImage>
  /** Its containers use the engine of the images; valid only after `image` has returned one. */
  runtime(): Runtime
  close(): Promise<void>
}

export interface ContainerOptions {
  readonly commands: EngineCommands
  /** Where Podman's service is to listen. */
  readonly socketPath: string
  /** Opens the runtime of the engine at this socket. Rejects when the engine does not answer. */
  readonly open: (socketPath: string) => Promise<ContainerService>
}

export function localContainers({ commands, socketPath, open }: ContainerOptions): Containers {
  const images = new Map<string, Promise<StepImage>>()
  let finding: Promise<FoundEngine | undefined> | undefined
  let engine: FoundEngine | undefined
  const find = async (): Promise<FoundEngine | undefined> => {
    const found = await findEngine(commands, socketPath, open)
    engine = found
    return found
  }
  return {
    async image(docker, signal) {
      finding ??= find()
      const found = await finding
      if (found === undefined) return { trouble: 'neither docker nor podman works on this machine' }
      const key = JSON.stringify(docker)
      const got =
        images.get(key) ??
        obtainImage(docker, (words, input) => commands.ask([found.program, ...words], { signal, input }))
      images.set(key, got)
      return got
    },
    runtime() {
      if (engine === undefined) throw new Error('a command has an image, and no engine was found')
      return engine.runtime
    },
    async close() {
      await (await finding?.catch(() => undefined))?.[Symbol.asyncDispose]()
    },
  }
}
