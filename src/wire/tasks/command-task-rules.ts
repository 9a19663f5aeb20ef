import type { FaultError } from '../../base/fault.ts'
import { invalid } from '../../base/fault.ts'
import {
  blobsReadBy,
  type CommandStage,
  type CommandTask,
  isFreePlace,
  isInteractive,
} from '../../model/command-task.ts'
import { isTerminalSize, MOST_TERMINAL_LINES } from '../../model/live-input.ts'

/** The limit of an encoded task, in the journal and in leases. Larger data belongs into the blob store. */
export const MOST_TASK_BYTES = 4 * 1024 * 1024
/** Long output of stages is stored under this path, so no output of a task may use it. */
export const STREAMS_FOLDER = '.windlass'

const MOST_STAGES = 8
const MOST_FILES = 10_000
const MOST_GLOBS = 100
/** The limit for all globs together: every name in a room may be matched against every glob. */
const MOST_GLOB_CHARS = 4096
const MOST_PATH = 4096
const MOST_IMAGE = 1000
/** A place is a mount, so this is the maximum number of mounts. */
const MOST_PLACES = 256
const STAGE_NAME = /^[a-z][a-z0-9_-]{0,31}$/

/** Throws `invalid` for a task that no worker can run. Paths of clients are checked again where they are used. */
export function mustBeCommandTask(task: CommandTask): void {
  const { stages, inputs, outputs, platform, image } = task
  mustBeCount(stages.length, [1, MOST_STAGES], 'stages')
  mustDiffer(
    stages.map(({ name }) => name),
    'stage',
  )
  for (const stage of stages) mustBeStage(stage)
  if (stages.filter(({ stdin }) => stdin?.kind === 'live').length > 1)
    throw invalid('only one stage can have interactive input')
  if (stages.slice(1).some(({ cache }) => cache !== undefined)) throw invalid('only the first stage can be cached')
  if (isInteractive(task) && task.cacheable) throw invalid('a task with interactive input cannot be cached')
  mustBeInputs(inputs)
  if (task.workingDirectory !== '') mustBePath(task.workingDirectory, 'working directory')
  mustBeOutputs(outputs)
  for (const { name, value } of platform) {
    if (name === '') throw invalid('a platform property has no name')
    mustBeText(name, 'platform property')
    mustBeText(value, 'platform property')
  }
  if (image !== undefined && (image === '' || image.length > MOST_IMAGE || /[\s\0]/.test(image)))
    throw invalid(`${quoted(image)} is not the name of an image`)
  mustBePlaces(task)
  if (blobsReadBy(task).some(({ fn }) => fn !== task.fn)) throw invalid('a task has digests of two digest functions')
}

/** Places need an image: without one they would hide directories of the worker's own system. */
function mustBePlaces({ places = [], image, stages }: CommandTask): void {
  mustBeCount(places.length, [0, MOST_PLACES], 'places')
  const needsImage = places.length > 0 || stages.some(({ entrypointAt }) => entrypointAt !== undefined)
  if (needsImage && image === undefined) throw invalid('a task has options of a container, but no image')
  for (const { name, argv, entrypointAt = 0 } of stages)
    if (!Number.isInteger(entrypointAt) || entrypointAt < 0 || entrypointAt > argv.length)
      throw invalid(`the stage ${name} has no word ${entrypointAt}`, 'range')
  for (const { path, at } of places) {
    mustBePath(path, 'part of the room')
    mustBeText(at, 'place')
    if (!isFreePlace(at) || at.length > MOST_PATH) throw invalid(`a room cannot be shown at ${quoted(at)}`)
  }
  mustDiffer(
    places.map(({ at }) => at),
    'place',
  )
}

function mustBeStage({ name, argv, env, stdin, limits, cache }: CommandStage): void {
  if (!STAGE_NAME.test(name)) throw invalid(`${quoted(name)} is not the name of a stage`)
  if (argv[0] === undefined || argv[0] === '') throw invalid(`the stage ${name} has no program`)
  for (const argument of argv) mustBeText(argument, 'argument')
  for (const { name: variable, value } of env) {
    if (variable === '' || variable.includes('=')) throw invalid(`${quoted(variable)} cannot be the name of a variable`)
    mustBeText(variable, 'variable')
    mustBeText(value, 'variable')
  }
  for (const [limit, amount] of Object.entries(limits)) {
    const isAmount = limit === 'cpus' ? amount >= 0.001 && amount <= 1e6 : Number.isSafeInteger(amount) && amount > 0
    if (!isAmount) throw invalid(`the limit ${limit} of the stage ${name} is ${amount}`, 'range')
  }
  if (cache !== undefined) mustBePatterns(cache.outputs)
  if (stdin?.kind === 'inline' && stdin.bytes.length > MOST_TASK_BYTES) throw tooLarge(stdin.bytes.length)
  if (stdin?.kind === 'live' && stdin.terminal !== undefined && !isTerminalSize(stdin.terminal))
    throw invalid(`a terminal has from 1 to ${MOST_TERMINAL_LINES} rows, and as many columns`, 'range')
}

function mustBeInputs({ files, placed }: CommandTask['inputs']): void {
  mustBeCount(files.length + placed.length, [0, MOST_FILES], 'input files')
  const paths = [...files, ...placed].map(({ path }) => path)
  for (const path of paths) mustBePath(path, 'input')
  mustDiffer(paths, 'input')
}

function mustBeOutputs({ paths, globs, mostFiles, mostBytes }: CommandTask['outputs']): void {
  mustBeCount(paths.length, [0, MOST_FILES], 'outputs')
  mustBeCount(mostFiles, [0, MOST_FILES], 'output files')
  if (!Number.isSafeInteger(mostBytes) || mostBytes < 0) throw invalid(`outputs of ${mostBytes} bytes`, 'range')
  mustBePatterns(globs)
  for (const path of paths) mustBeOutput(path)
}

function mustBePatterns(globs: readonly string[]): void {
  mustBeCount(globs.length, [0, MOST_GLOBS], 'patterns of outputs')
  if (globs.join('').length > MOST_GLOB_CHARS)
    throw invalid(`the patterns of outputs have more than ${MOST_GLOB_CHARS} characters`, 'range')
  for (const glob of globs) mustBeOutput(glob)
}

function mustBeOutput(path: string): void {
  mustBePath(path, 'output')
  if (path === STREAMS_FOLDER || path.startsWith(`${STREAMS_FOLDER}/`))
    throw invalid(`the output ${quoted(path)} is in a reserved directory`)
}

/** The path must be normalised: no dots, no double slashes. */
export function mustBePath(path: string, what: string): void {
  mustBeText(path, what)
  const isPlain = path.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
  if (!isPlain || path.length > MOST_PATH) throw invalid(`the ${what} ${quoted(path)} is not a path from the root`)
}

function mustBeText(text: string, what: string): void {
  if (text.includes('\0') || !text.isWellFormed()) throw invalid(`the ${what} ${quoted(text)} is no text`)
}

function mustBeCount(count: number, [least, most]: readonly [number, number], what: string): void {
  if (!Number.isInteger(count) || count < least || count > most)
    throw invalid(`a task has ${count} ${what}, and may have ${least} to ${most}`, 'range')
}

function mustDiffer(names: readonly string[], what: string): void {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) throw invalid(`the ${what} ${quoted(name)} comes twice`)
    seen.add(name)
  }
}

export const tooLarge = (bytes: number): FaultError =>
  invalid(`a task of ${bytes} bytes is more than ${MOST_TASK_BYTES}: larger inputs go by their digest`, 'range')

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
