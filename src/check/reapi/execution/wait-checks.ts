import { STATUS } from '../../../grpc/status.ts'
import { ensure, expectRefusal, same } from '../../unmet.ts'
import { completed, type OperationStream } from '../probe/executions.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { patiently } from './patiently.ts'
import { stdoutText } from './read-result.ts'

export const sleepScript = (seconds: number): string => `sleep ${seconds}; printf ended`

/** Starts an execution that takes a second, without following it to its end. */
export async function startedExecution({ executions }: Probe, script = sleepScript(1)) {
  const stream = executions.open(await executions.store({ script }))
  const name = (await stream.next())?.name ?? ''
  return { name, stream }
}

const endsAs = async (probe: Probe, stream: OperationStream): Promise<void> =>
  same('stdout', await stdoutText(probe, (await completed(stream)).result), 'ended')

/** An operation name in the server's format that does not exist: its last letters are changed. */
export const unknownOperation = (name: string): string =>
  `${name.slice(0, -6)}${name.slice(-6).replace(/[0-9a-zA-Z]/g, (letter) => (letter === '0' ? '1' : '0'))}`

export const waitChecks = {
  'wait-execution.current': patiently(async (probe, seconds) => {
    const { name } = await startedExecution(probe, sleepScript(seconds))
    const stream = probe.executions.wait(name)
    const first = await stream.next()
    await stream.rest()
    ensure(
      first?.done === false,
      'a first message before the operation is done',
      first === undefined ? 'none' : 'a message with done',
    )
  }),
  async 'wait-execution.until-done'(probe) {
    const { name } = await startedExecution(probe)
    await endsAs(probe, probe.executions.wait(name))
  },
  async 'wait-execution.same-name'(probe) {
    const { name } = await startedExecution(probe)
    for (const message of await probe.executions.wait(name).rest()) same('name', message.name, name)
  },
  async 'wait-execution.after-end'(probe) {
    const { name, stream } = await startedExecution(probe)
    await stream.rest()
    await endsAs(probe, probe.executions.wait(name))
  },
  async 'wait-execution.unknown'(probe) {
    const { name, stream } = await startedExecution(probe, ':')
    await stream.rest()
    await expectRefusal('it', STATUS.notFound, probe.executions.wait(unknownOperation(name)).rest())
  },
  async 'wait-execution.several'(probe) {
    const { name, stream } = await startedExecution(probe)
    const others = [probe.executions.wait(name), probe.executions.wait(name)]
    await Promise.all([stream, ...others].map((each) => endsAs(probe, each)))
  },
  async 'wait-execution.dropped-execute'(probe) {
    const { name, stream } = await startedExecution(probe)
    stream.close()
    await probe.pause(200)
    await endsAs(probe, probe.executions.wait(name))
  },
  async 'wait-execution.dropped'(probe) {
    const { name, stream } = await startedExecution(probe)
    const waiting = probe.executions.wait(name)
    await waiting.next()
    waiting.close()
    await probe.pause(200)
    await endsAs(probe, stream)
  },
} satisfies Partial<Record<ExecutionId, Check>>
