import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const RUNNER = fileURLToPath(new URL('../../bin/cwl-runner', import.meta.url))
const FLAGS = ['--no-container', '--quiet']

export interface Contestant {
  readonly name: string
  /** `round` is unlike that of any other run. */
  argv(round: string): readonly string[]
}

export const hasCwltool = (): boolean => spawnSync('cwltool', ['--version']).status === 0

/** Without a server, and by way of one that is there already; each round is an instance of its own. */
export const contestants = (url: string): readonly Contestant[] => [
  { name: 'embedded', argv: () => [RUNNER, ...FLAGS] },
  { name: 'server', argv: (round) => [RUNNER, '--quiet', `--server=${url}`, `--instance=${round}`] },
  ...(hasCwltool() ? [{ name: 'cwltool', argv: () => ['cwltool', ...FLAGS, '--parallel'] }] : []),
]
