import { ensure, NotOffered, same, Unmet } from '../../unmet.ts'
import { STAGE } from '../probe/operation-message.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { patiently } from './patiently.ts'

const says = (seconds: number): string =>
  `printf begun; printf moan >&2; sleep ${seconds}; printf ended; printf groan >&2`

/** The names come with a message while the command runs, where the server has them. */
async function followed({ executions }: Probe, which: 'stdoutStreamName' | 'stderrStreamName', seconds = 1) {
  const stream = executions.open(await executions.store({ script: says(seconds) }))
  for (let told = await stream.next(); told !== undefined; told = await stream.next()) {
    const name = told.metadata[which]
    if (name !== '') return { name, stream }
    if (told.metadata.stage >= STAGE.executing) break
  }
  throw new NotOffered('the server names no stream')
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
    ensure(first !== undefined, 'some of it while the command runs', 'nothing before its end')
    if (first.done) throw new Unmet('some of it while the command runs', 'the end of the stream')
    same('the beginning', Buffer.from(first.value).toString().slice(0, 5), 'begun')
    await ended
  }),
} satisfies Partial<Record<ExecutionId, Check>>
