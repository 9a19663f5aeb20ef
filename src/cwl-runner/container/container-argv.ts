import { invalid } from '../../base/fault.ts'
import type { ToolCommand } from '../../workflow/tool/tool-command.ts'

/** A file or directory of this machine, mounted where the command sees it. */
export interface Mount {
  readonly source: string
  readonly target: string
  readonly isWritable: boolean
}

export interface ContainerUser {
  readonly uid: number
  readonly gid: number
}

export interface ContainerRun {
  readonly image: string
  readonly name: string
  readonly command: ToolCommand
  readonly mounts: readonly Mount[]
  readonly hasInput: boolean
}

export interface EngineRun extends ContainerRun {
  readonly program: string
  /** The owner of the outputs; undefined for root. */
  readonly user: ContainerUser | undefined
}

export function containerArgv(order: EngineRun): readonly string[] {
  const { program, image, name, command, mounts, hasInput, user } = order
  mustBeImage(image)
  return [
    program,
    'run',
    '--rm',
    ...(hasInput ? ['--interactive'] : []),
    `--name=${name}`,
    `--workdir=${command.room.outdir}`,
    ...(command.network ? [] : ['--network=none']),
    ...(user === undefined ? [] : userWords(program, user)),
    ...Object.entries(command.env).map(([variable, value]) => `--env=${variable}=${value}`),
    ...mounts.map(mountWord),
    image,
    ...command.argv,
  ]
}

/** Refuses names that would be read as options. */
export function mustBeImage(image: string): void {
  if (!/^[a-z0-9]/i.test(image)) throw invalid(`${JSON.stringify(image.slice(0, 200))} is no name of an image`)
}

/** Rootless podman maps users, unless it is told to keep ours. */
const userWords = (program: string, { uid, gid }: ContainerUser): readonly string[] =>
  program === 'podman' ? ['--userns=keep-id'] : [`--user=${uid}:${gid}`]

/** The value is parsed as CSV: a path may contain a comma or a quote. */
const mountWord = ({ source, target, isWritable }: Mount): string => {
  const words = ['type=bind', `source=${source}`, `target=${target}`, ...(isWritable ? [] : ['readonly'])]
  return `--mount=${words.map((word) => (/[",\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word)).join(',')}`
}
