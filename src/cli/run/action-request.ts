import { invalid } from '../../base/fault.ts'
import type { ActionRunOptions } from '../../client/execution/run-action.ts'
import { outputPaths } from '../../client/trees/result-outputs.ts'
import { parseSeconds } from '../output/text.ts'
import { pairOf } from '../session/dial.ts'
import type { DigestOptions, LimitOptions } from '../session/grid-flags.ts'

export interface RunOptions extends DigestOptions, LimitOptions {
  readonly input?: string
  readonly allFiles?: true
  readonly stdin: boolean
  readonly output?: string
  readonly outputPath?: readonly string[]
  readonly platform?: readonly string[]
  readonly env?: readonly string[]
  readonly timeout?: string
  readonly priority?: string
  readonly cache: boolean
  readonly unsafeLinks?: true
  readonly verbose?: true
}

const LOWEST_PRIORITY = 2 ** 31 - 1
const WHOLE_DIRECTORY = ['']

/** Builds the request from the command line; throws `invalid` with the flag's name. */
export function actionRequest(argv: readonly string[], options: RunOptions): Omit<ActionRunOptions, 'stdin'> {
  if (argv[0] === '') throw invalid('the command names no program')
  if (argv.some((word) => word.includes('\0'))) throw invalid('an argument has a NUL in it')
  return {
    argv,
    env: pairs('--env', options.env),
    platform: pairs('--platform', options.platform),
    outputPaths: wantedPaths(options),
    input: options.input,
    allFiles: options.allFiles === true,
    timeoutMs: timeoutOf(options.timeout),
    doNotCache: !options.cache,
  }
}

export function priorityOf({ priority = '0' }: RunOptions): number {
  const number = /^-?\d{1,10}$/.test(priority) ? Number(priority) : Number.NaN
  if (!(Math.abs(number) <= LOWEST_PRIORITY)) throw invalid(`--priority: ${priority} is not a whole number`)
  return number
}

function wantedPaths({ output, outputPath = [] }: RunOptions): readonly string[] {
  if (outputPath.length > 0 && output === undefined)
    throw invalid('--output-path: --output is needed too: it names the folder')
  if (output === undefined) return []
  return outputPaths(outputPath.length > 0 ? outputPath : WHOLE_DIRECTORY)
}

/** The last value of a name counts, as in a shell; a platform may have several values for one name. */
function pairs(flag: '--env' | '--platform', given: readonly string[] = []): ReturnType<typeof pairOf>[] {
  const all = given.map((text) => pairOf(flag, text))
  return flag === '--env' ? [...new Map(all.map((pair) => [pair.name, pair])).values()] : all
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = parseSeconds('--timeout', text)
  if (seconds === 0) throw invalid('--timeout: it needs some time to run')
  return seconds * 1000
}
