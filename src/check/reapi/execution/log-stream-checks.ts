import { ensure, NotOffered, same, Unmet } from '../../unmet.ts'
import { STAGE } from '../probe/operation-message.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { patiently } from './patiently.ts'

const script = (seconds: number): string =>
  `printf begun; printf moan >&2; sleep ${seconds}; printf ended; printf groan >&2`

/** If the server supports log streams, a message contains their names while the command runs. */
async function followed({ executions }: Probe, which: 'stdoutStreamName' | 'stderrStreamName', seconds = 1) {
  const stream = executions.open(await executions.store({ script: script(seconds) }))
  for (let message = await stream.next(); message !== undefined; message = await stream.next()) {
    const name = message.metadata[which]
    if (name !== '') return { name, stream }
    if (message.metadata.stage >= STAGE.executing) break
  }
  throw new NotOffered('the server returns no stream name')
}

async function readAll(probe: Probe, which: 'stdoutStreamName' | 'stderrStreamName'): Promise<string> {
  const { name, stream } = await followed(probe, which)
  const text = Buffer.from(await probe.bytestream.read(name)).toString()
  await stream.rest()
  return text
}

export const logStreamChecks = {
  async 'log-stream.stdout'(probe) {
    same('stdout', await readAll(probe, 'stdoutStreamName'), 'begunended')
  },
  async 'log-stream.stderr'(probe) {
    same('stderr', await readAll(probe, 'stderrStreamName'), 'moangroan')
  },
  'log-stream.live': patiently(async (probe, seconds) => {
    const { name, stream } = await followed(probe, 'stdoutStreamName', seconds)
    const ended = stream.rest().then(() => undefined)
    const messages = probe.bytestream.messages(name)[Symbol.asyncIterator]()
    const first = await Promise.race([messages.next(), ended])
    ensure(first !== undefined, 'a part of the output while the command runs', 'no output before its end')
    if (first.done) throw new Unmet('a part of the output while the command runs', 'the end of the stream')
    same('the beginning', Buffer.from(first.value).toString().slice(0, 5), 'begun')
    await ended
  }),
} satisfies Partial<Record<ExecutionId, Check>>
