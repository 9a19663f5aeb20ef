import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Runtime } from '../../runtimes/run/runtime.ts'
import type { Docker } from '../../workflow/tool/docker.ts'
import { type ContainerRun, type ContainerUser, containerArgv, mustBeImage } from './container-argv.ts'
import { machineCommand } from './machine-command.ts'

/** Runs commands in containers, with the `docker` or `podman` of this machine. */
export interface Containers {
  /** Returns the name of an image that is present, pulled or built if needed; or why there is none. */
  image(docker: Docker, signal: AbortSignal): Promise<{ readonly image: string } | { readonly trouble: string }>
  /** The arguments that run a command in a container; valid only after `image` has returned one. */
  argv(order: ContainerRun): readonly string[]
  /** The environment of docker or podman, not of the command in the container. */
  readonly env: Readonly<Record<string, string>>
  /** Kills and removes a container. */
  remove(name: string): Promise<void>
}

export interface ContainerOptions {
  readonly runtime: Runtime
  /** A working directory for docker or podman. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly user: ContainerUser | undefined
}

const PROGRAMS = ['docker', 'podman'] as const

export function localContainers(options: ContainerOptions): Containers {
  const { env, user } = options
  const ask = asker(options)
  let program: Promise<string | undefined> | undefined
  let known = ''
  const images = new Map<string, Promise<{ readonly image: string } | { readonly trouble: string }>>()
  const find = async (): Promise<string | undefined> => {
    for (const one of PROGRAMS) if ((await ask([one, 'info'])).isDone) return one
    return undefined
  }
  return {
    env,
    async image(docker, signal) {
      program ??= find()
      const found = await program
      if (found === undefined) return { trouble: 'neither docker nor podman works on this machine' }
      known = found
      const key = JSON.stringify(docker)
      const got = images.get(key) ?? obtain(docker, (words, input) => ask([found, ...words], { signal, input }))
      images.set(key, got)
      return got
    },
    argv: (order) => containerArgv({ ...order, program: known, user }),
    async remove(name) {
      await ask([known, 'kill', name]) // `rm` alone would wait ten seconds for the container to stop
      await ask([known, 'rm', '-f', name])
    },
  }
}

interface Answer {
  readonly isDone: boolean
  readonly words: string
}

interface Asking {
  readonly signal?: AbortSignal
  readonly input?: string | undefined
}

/** Runs docker or podman and returns its last line of error output. */
function asker({ runtime, folder, env }: ContainerOptions) {
  let asked = 0
  return async (argv: readonly string[], { signal, input }: Asking = {}): Promise<Answer> => {
    const room = { name: `containers-${++asked}`, path: folder, tmp: undefined }
    const command = machineCommand(argv, env)
    const limits = { outputBytes: 64 << 10 }
    const hooks = input === undefined ? {} : { stdin: Readable.from([Buffer.from(input)]) }
    const end = await runtime.run({ command, room, limits, hooks }, signal ?? new AbortController().signal)
    const text = Buffer.from(end.stderr.bytes).toString().trim()
    return { isDone: end.exitCode === 0, words: text.split('\n').at(-1) ?? '' }
  }
}

type Ask = (words: readonly string[], input?: string) => Promise<Answer>

async function obtain(docker: Docker, ask: Ask): Promise<{ readonly image: string } | { readonly trouble: string }> {
  const image = docker.image ?? `windlass-cwl:${createHash('sha1').update(JSON.stringify(docker)).digest('hex')}`
  mustBeImage(image)
  if ((await ask(['image', 'inspect', image])).isDone) return { image }
  const got = await ask(wayTo(docker, image), docker.file)
  return got.isDone ? { image } : { trouble: `the image ${image} cannot be had: ${got.words}` }
}

/** The arguments that obtain an image that is not present. */
function wayTo({ load, importFrom, file }: Docker, image: string): readonly string[] {
  if (load !== undefined) return ['load', `--input=${load}`]
  if (importFrom !== undefined) return ['import', '--', importFrom, image]
  // The Dockerfile comes from standard input: there is no build context to copy from.
  if (file !== undefined) return ['build', '--tag', image, '-']
  return ['pull', image]
}
