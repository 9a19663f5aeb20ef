import { STATUS } from '../../../grpc/status.ts'
import { ExecuteRequest, RequestMetadata } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, NotOffered, same, sameBytes, Unmet } from '../../unmet.ts'
import { fieldOf } from '../probe/digest-functions.ts'
import { completed } from '../probe/executions.ts'
import { METADATA_TYPE, type OperationMessage, RESPONSE_TYPE, STAGE, STAGE_NAMES } from '../probe/operation-message.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { patiently } from './patiently.ts'
import { endsWith, findOutputFile, putText, read, stderrOf, stdoutOf, stdoutText } from './read-result.ts'

const MiB = 1024 * 1024
const HEADER = 'build.bazel.remote.execution.v2.requestmetadata-bin'

const all = async ({ executions }: Probe): Promise<readonly OperationMessage[]> => (await executions.run({})).all

/** If there are no messages at all, another behaviour reports that failure. */
function withMetadata(messages: readonly OperationMessage[]): readonly OperationMessage[] {
  if (messages.every(({ metadataType }) => metadataType === '')) throw new NotOffered('the server sends no metadata')
  return messages
}

/** The number of positions at which two names differ. */
const differing = (one: string, other: string): number =>
  Array.from({ length: Math.max(one.length, other.length) }, (_, at) => one[at] !== other[at]).filter(Boolean).length

const stageOf = ({ metadata }: OperationMessage): string => STAGE_NAMES[metadata.stage] ?? `${metadata.stage}`

/** Output with arbitrary bytes: 0 and 255 among them, and no line end after the last. */
const BYTES = Buffer.from([0, 255, 10, 97, 13, 0, 98])
const WRITE_BYTES = String.raw`printf '\000\377\na\r\000b'`

const withPriority = (priority: number) => ({ executionPolicy: { priority } })

export const executeChecks = {
  async 'execute.runs'({ offer, executions }) {
    if (offer.idle !== undefined) throw new Unmet("a worker to execute /bin/sh -c 'exit 0'", offer.idle)
    same('exit code', (await executions.run({ script: 'exit 0' })).result.exitCode, 0)
  },
  'execute.first-at-once': patiently(async ({ executions }, seconds) => {
    const stream = executions.open(await executions.store({ script: `sleep ${seconds}` }))
    const first = await stream.next()
    await stream.rest()
    ensure(first?.done === false, 'a first message before the command is done', first ? 'a message with done' : 'none')
  }),
  async 'execute.name-given'(probe) {
    for (const { name } of await all(probe)) ensure(name !== '', 'a name', 'none')
  },
  async 'execute.name-stable'(probe) {
    const names = new Set((await all(probe)).map(({ name }) => name))
    ensure(names.size === 1, 'one name', [...names].join(', '))
  },
  async 'execute.name-unguessable'({ executions }) {
    const names: string[] = []
    for (let count = 0; count < 3; count++) names.push((await executions.run({})).last.name)
    const [one = '', two = '', three = ''] = names
    const least = Math.min(differing(one, two), differing(two, three), differing(one, three))
    ensure(least >= 8, 'names that differ in 8 places at least', names.join(', '))
  },
  async 'execute.stages-known'(probe) {
    for (const message of withMetadata(await all(probe))) {
      const isKnown = message.metadata.stage >= STAGE.cacheCheck && message.metadata.stage <= STAGE.completed
      ensure(isKnown, 'a stage', stageOf(message))
    }
  },
  'execute.stage-executing': patiently(async ({ executions }, seconds) => {
    const stages = withMetadata((await executions.run({ script: `sleep ${seconds}` })).all).map(stageOf)
    ensure(stages.includes('EXECUTING'), 'EXECUTING among the stages', stages.join(', '))
  }),
  async 'execute.done-when-completed'(probe) {
    for (const message of withMetadata(await all(probe))) {
      const isRight = message.done === (message.metadata.stage === STAGE.completed)
      ensure(
        isRight,
        'done exactly when the stage is COMPLETED',
        `${stageOf(message)}, ${message.done ? 'done' : 'not done'}`,
      )
    }
  },
  async 'execute.done-is-last'(probe) {
    const messages = await all(probe)
    same('messages after the message with done:', messages.length - 1 - messages.findIndex(({ done }) => done), 0)
  },
  async 'execute.metadata-type'(probe) {
    for (const { metadataType } of await all(probe)) same('type', metadataType, METADATA_TYPE)
  },
  async 'execute.response-type'({ executions }) {
    same('type', (await executions.run({})).last.responseType, RESPONSE_TYPE)
  },
  async 'execute.metadata-action'({ executions }) {
    const digest = await executions.store({})
    for (const { metadata } of withMetadata((await executions.run(digest)).all)) {
      same('action', metadata.actionDigest?.hash ?? 'none', digest.hash)
    }
  },
  async 'execute.metadata-function'(probe) {
    const messages = withMetadata(await all(probe))
    same('digest function', messages.at(-1)?.metadata.digestFunction ?? 0, probe.fn.number)
  },
  async 'execute.no-operation-error'({ executions }) {
    for (const order of [{ script: 'exit 1' }, { script: 'sleep 5', action: { timeout: { seconds: 1 } } }]) {
      const { last } = await executions.try(order)
      ensure(last?.error === undefined, 'no error', `${last?.error?.code}: ${last?.error?.message}`)
      ensure(last?.response !== undefined, 'a response', 'none')
    }
  },
  async 'execute.stdout'(probe) {
    const { result } = await probe.executions.run({ script: WRITE_BYTES })
    sameBytes('stdout', await stdoutOf(probe, result), BYTES)
  },
  async 'execute.stderr'(probe) {
    const { result } = await probe.executions.run({ script: `${WRITE_BYTES} >&2` })
    sameBytes('stderr', await stderrOf(probe, result), BYTES)
  },
  async 'execute.large-stdout'(probe) {
    // 6 MiB of distinct lines, so that a missing part is noticed.
    const script = `i=0; while [ $i -lt 96 ]; do printf '%065535d\\n' $i; i=$((i+1)); done`
    const { result } = await probe.executions.run({ script }, { inlineStdout: true })
    const out = Buffer.from(await stdoutOf(probe, result))
    same('bytes', out.length, 6 * MiB)
    for (let line = 0; line < 96; line++) {
      same('line', Number(out.subarray(line * 65_536, (line + 1) * 65_536).toString()), line)
    }
  },
  async 'execute.exit-code'({ executions }) {
    const ending = await executions.try({ script: 'exit 7' })
    endsWith('it', ending, STATUS.ok)
    same('exit code', ending.last?.response?.result?.exitCode ?? 0, 7)
  },
  async 'execute.failed-outputs'(probe) {
    const command = { outputPaths: ['out'], outputFiles: ['out'] }
    const { result } = await probe.executions.run({ script: 'printf made > out; printf said; exit 1', command })
    same('exit code', result.exitCode, 1)
    same('output', Buffer.from(await read(probe, findOutputFile(result, 'out').digest)).toString(), 'made')
    same('stdout', await stdoutText(probe, result), 'said')
  },
  async 'execute.status-message'({ executions }) {
    const { message } = await executions.try({ script: 'sleep 5', action: { timeout: { seconds: 1 } } })
    ensure(message !== '', 'a message', 'none')
  },
  async 'execute.server-logs'(probe) {
    const logs = Object.entries((await probe.executions.run({ script: 'exit 3' })).response.serverLogs)
    if (logs.length === 0) throw new NotOffered('the server returns no logs')
    for (const [name, { digest }] of logs) {
      const isWithin = name !== '' && !name.startsWith('/') && !name.split('/').includes('..')
      ensure(isWithin, 'a relative name without ".."', JSON.stringify(name))
      ensure(digest !== undefined, 'a digest', 'none')
      await read(probe, digest)
    }
  },
  async 'execute.unknown-fields-ignored'({ executions, fn, offer }) {
    const actionDigest = await executions.store({})
    const parts = { instanceName: offer.instance, actionDigest, digestFunction: fieldOf(fn) }
    const bytes = ExecuteRequest.encode(ExecuteRequest.fromPartial(parts)).finish()
    // Field 1000 as text: a later version of the API could have it.
    await completed(executions.openRaw(Buffer.concat([bytes, Buffer.from([0xc2, 0x3e, 3, 0x6e, 0x65, 0x77])])))
  },
  async 'execute.request-metadata'({ executions, random }) {
    const parts = { toolDetails: { toolName: 'check', toolVersion: '1' }, toolInvocationId: random.uuid() }
    const header = RequestMetadata.encode(RequestMetadata.fromPartial(parts)).finish()
    await executions.run({}, {}, { metadata: { [HEADER]: header } })
  },
  async 'execute.garbage-metadata'({ executions, random }) {
    const garbage = Buffer.from([0xff, 0xff, ...random.bytes(32)])
    await executions.run({}, {}, { metadata: { [HEADER]: garbage } })
  },
  async 'execute.inline-stdout'(probe) {
    const { result } = await probe.executions.run({ script: 'printf wanted' }, { inlineStdout: true })
    if (result.stdoutRaw.length > 0) same('the inlined content:', Buffer.from(result.stdoutRaw).toString(), 'wanted')
    same('stdout', await stdoutText(probe, result), 'wanted')
  },
  async 'execute.inline-files'(probe) {
    const { result } = await probe.executions.run(
      { script: 'printf wanted > out', command: { outputPaths: ['out'], outputFiles: ['out'] } },
      { inlineOutputFiles: ['out'] },
    )
    const { contents, digest } = findOutputFile(result, 'out')
    if (contents.length > 0) same('the inlined content:', Buffer.from(contents).toString(), 'wanted')
    same('digest', digest.hash, (await putText(probe, 'wanted')).digest.hash)
  },
  async 'execute.functions'(probe) {
    const { digestFunction = 0, digestFunctions = [] } = probe.offer.execution ?? {}
    const named = new Set<number>([digestFunction, ...digestFunctions])
    for (const fn of probe.offer.functions.filter(({ number }) => named.has(number))) {
      const order = { script: 'printf wanted > out', command: { outputPaths: ['out'], outputFiles: ['out'] } }
      const { result } = await probe.under(fn).executions.run(order)
      same(`digest by ${fn.name}`, findOutputFile(result, 'out').digest.hash, fn.hash(Buffer.from('wanted')))
    }
  },
  async 'execute.priority'({ executions, offer }) {
    const ranges = offer.execution?.executionPriorityCapabilities?.priorities ?? []
    for (const priority of ranges.flatMap(({ minPriority, maxPriority }) => [minPriority, maxPriority])) {
      await executions.run({}, withPriority(priority))
    }
  },
  async 'execute.cache-priority'({ executions }) {
    await executions.run({}, { resultsCachePolicy: { priority: 0 } })
  },
} satisfies Partial<Record<ExecutionId, Check>>
