import { STATUS } from '../../../grpc/status.ts'
import { ensure, same } from '../../unmet.ts'
import { encodedDirectory } from '../probe/actions.ts'
import type { ExecutionEnd } from '../probe/executions.ts'
import type { Check, Probe } from '../probe/probe.ts'
import { PATH } from '../probe/upload-action.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { endsWith, putText, runForStdout } from './read-result.ts'

const AWKWARD = ['two words', '', "it's", '"$HOME"', 'line\nbreak', 'ünï', '*', '--', '\\']
const UNKNOWN = (probe: Probe) => ({ properties: [{ name: `check-${probe.random.word()}`, value: 'x' }] })

/** A program in the directory `sub` that prints its working directory. */
async function withProgram(probe: Probe) {
  const program = await putText(probe, '#!/bin/sh\nprintf started\n')
  const sub = encodedDirectory({ files: [{ name: 'tool', digest: program.digest, isExecutable: true }] })
  const { digest } = await probe.put(probe.blobOf(sub))
  return { root: { directories: [{ name: 'sub', digest }] } }
}

/** A failed result, or an error that clients do not retry. */
function clientsMistake(ending: ExecutionEnd): void {
  const codes = [STATUS.ok, STATUS.invalidArgument, STATUS.failedPrecondition, STATUS.notFound] as const
  endsWith('it', ending, ...codes)
  const exitCode = ending.last?.response?.result?.exitCode ?? 0
  ensure(ending.code !== STATUS.ok || exitCode !== 0, 'an exit code other than 0', '0')
}

export const commandChecks = {
  async 'command.arguments'(probe) {
    const seen = await runForStdout(probe, { script: `for each; do printf '<%s>' "$each"; done`, args: AWKWARD })
    same('arguments', seen, AWKWARD.map((each) => `<${each}>`).join(''))
  },
  async 'command.environment'(probe) {
    const environmentVariables = [
      { name: 'CHECK_EMPTY', value: '' },
      { name: 'CHECK_ONE', value: 'a=b c\nd' },
      { name: 'CHECK_TWO', value: '$CHECK_ONE' },
      PATH,
    ]
    const script = `printf '<%s><%s><%s>' "\${CHECK_EMPTY-unset}" "$CHECK_ONE" "$CHECK_TWO"`
    same(
      'variables',
      await runForStdout(probe, { script, command: { environmentVariables } }),
      '<><a=b c\nd><$CHECK_ONE>',
    )
  },
  async 'command.no-environment'(probe) {
    same('stdout', await runForStdout(probe, { script: 'printf run', command: { environmentVariables: [] } }), 'run')
  },
  async 'command.stdin'(probe) {
    same('stdin', await runForStdout(probe, { script: `printf '<%s>' "$(cat)"` }), '<>')
  },
  async 'command.relative-program'(probe) {
    const command = { arguments: ['./tool'], workingDirectory: 'sub' }
    same('stdout', await runForStdout(probe, { ...(await withProgram(probe)), command }), 'started')
  },
  async 'command.path-program'(probe) {
    same('stdout', await runForStdout(probe, { command: { arguments: ['sh', '-c', 'printf found'] } }), 'found')
  },
  async 'command.no-program'({ executions }) {
    clientsMistake(await executions.try({ command: { arguments: ['./no-such-program'] } }))
  },
  async 'command.working-directory'(probe) {
    const command = { workingDirectory: 'sub' }
    const script = `[ -x tool ] && printf '%s' "\${PWD##*/}"`
    same('directory', await runForStdout(probe, { ...(await withProgram(probe)), script, command }), 'sub')
  },
  async 'command.no-working-directory'({ executions }) {
    clientsMistake(await executions.try({ command: { workingDirectory: 'no/such/directory' } }))
  },
  async 'command.platform-of-action'(probe) {
    same('stdout', await runForStdout(probe, { script: 'printf run', command: { platform: UNKNOWN(probe) } }), 'run')
  },
  async 'command.platform-of-command'(probe) {
    const { executions, soon } = probe
    const digest = await executions.store({ command: { platform: UNKNOWN(probe) }, action: { platform: undefined } })
    const ending = await soon(executions.end(executions.open(digest)))
    ensure(ending === undefined || ending.code !== STATUS.ok, 'no worker for a property that none has', 'OK')
  },
} satisfies Partial<Record<ExecutionId, Check>>
