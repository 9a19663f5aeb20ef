import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const RUNNER = fileURLToPath(new URL('../../bin/cwl-runner', import.meta.url))
const FLAGS = ['--no-container', '--quiet']

export interface Contestant {
  readonly name: string
  /** `round` is unique for each run. */
  argv(round: string): readonly string[]
}

export const hasCwltool = (): boolean => spawnSync('cwltool', ['--version']).status === 0

/** Without a server, and through a running server; each round has its own instance. */
export const contestants = (url: string): readonly Contestant[] => [
  { name: 'embedded', argv: () => [RUNNER, ...FLAGS] },
  { name: 'server', argv: (round) => [RUNNER, '--quiet', `--server=${url}`, `--instance=${round}`] },
  ...(hasCwltool() ? [{ name: 'cwltool', argv: () => ['cwltool', ...FLAGS, '--parallel'] }] : []),
]
