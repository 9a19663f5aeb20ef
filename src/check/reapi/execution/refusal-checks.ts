import { STATUS } from '../../../grpc/status.ts'
import { PreconditionFailure } from '../../../wire/gen/google/rpc/error_details.ts'
import { ensure, NotOffered, same, Unmet } from '../../unmet.ts'
import { encodedDirectory } from '../probe/actions.ts'
import type { Blob } from '../probe/blob.ts'
import type { ExecutionEnd, OperationStream, TestAction } from '../probe/executions.ts'
import { type OperationMessage, STAGE_NAMES } from '../probe/operation-message.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { endsWith } from './read-result.ts'

const PRECONDITION_FAILURE = 'type.googleapis.com/google.rpc.PreconditionFailure'
const NOT_THERE = STATUS.failedPrecondition

const refusedFor =
  (orderOf: (probe: Probe) => TestAction): Check =>
  async (probe) =>
    endsWith('it', await probe.executions.try(orderOf(probe)), NOT_THERE)

const rootOf = (files: readonly Blob[]): TestAction => ({
  root: { files: files.map(({ digest }, index) => ({ name: `f${index}`, digest })) },
})

/** Executes an action with three missing files and returns the result. */
async function withThreeMissing(probe: Probe): Promise<{ blobs: Blob[]; ending: ExecutionEnd }> {
  const blobs = [probe.blob(), probe.blob(), probe.blob()]
  const ending = await probe.executions.try(rootOf(blobs))
  if (ending.code !== NOT_THERE) throw new NotOffered('the server does not return FAILED_PRECONDITION')
  return { blobs, ending }
}

function violationsIn({ details }: ExecutionEnd): PreconditionFailure['violations'] {
  const detail = details.find(({ typeUrl }) => typeUrl === PRECONDITION_FAILURE)
  if (detail === undefined) {
    throw new Unmet('a PreconditionFailure', details.map(({ typeUrl }) => typeUrl).join(', ') || 'no detail')
  }
  const { violations } = PreconditionFailure.decode(detail.value)
  ensure(violations.length > 0, 'violations', 'none')
  return violations
}

const invalid = (what: string, ending: ExecutionEnd): void => endsWith(what, ending, STATUS.invalidArgument)

const recordedIn = (seen: OperationMessage[], stream: OperationStream): OperationStream => ({
  ...stream,
  async next() {
    const one = await stream.next()
    if (one !== undefined) seen.push(one)
    return one
  },
})

/** A server may keep an action queued for workers that do not exist yet; then it must report the stage QUEUED. */
function isQueued(seen: readonly OperationMessage[]): void {
  const stages = seen.map(({ metadata }) => STAGE_NAMES[metadata.stage] ?? `${metadata.stage}`)
  same('done', seen.at(-1)?.done ?? false, false)
  ensure(stages.at(-1) === 'QUEUED', 'a finished operation, or one at stage QUEUED', stages.at(-1) ?? 'no operation')
  ensure(!stages.includes('EXECUTING'), 'an operation that is never EXECUTING', stages.join(', '))
}

export const refusalChecks = {
  async 'refusal.missing-action'({ executions, blob }) {
    endsWith('it', await executions.try(blob().digest), NOT_THERE)
  },
  'refusal.missing-command': refusedFor(({ blob }) => ({ action: { commandDigest: blob().digest } })),
  'refusal.missing-root': refusedFor(({ blob }) => ({ action: { inputRootDigest: blob().digest } })),
  'refusal.missing-file': refusedFor(({ blob }) => rootOf([blob()])),
  'refusal.missing-directory': refusedFor(({ blobOf, random }) => {
    const { digest } = blobOf(encodedDirectory({ symlinks: [{ name: random.word(), target: 'x' }] }))
    return { root: { directories: [{ name: 'd', digest }] } }
  }),
  async 'refusal.one-detail'(probe) {
    const { ending } = await withThreeMissing(probe)
    violationsIn(ending)
    same('details:', ending.details.length, 1)
  },
  async 'refusal.all-missing'(probe) {
    const { blobs, ending } = await withThreeMissing(probe)
    const subjects = violationsIn(ending).map(({ subject }) => subject)
    for (const { digest } of blobs) {
      const isNamed = subjects.some((subject) => subject.includes(digest.hash))
      ensure(isNamed, `a violation for each of ${blobs.length} blobs`, subjects.join(', '))
    }
  },
  async 'refusal.violation-type'(probe) {
    for (const { type } of violationsIn((await withThreeMissing(probe)).ending)) same('type', type, 'MISSING')
  },
  async 'refusal.subject'(probe) {
    const { blobs, ending } = await withThreeMissing(probe)
    const right = new Set(blobs.map(({ digest }) => `blobs/${probe.fn.segment}${digest.hash}/${digest.sizeBytes}`))
    for (const { subject } of violationsIn(ending)) {
      ensure(right.has(subject), `one of ${[...right].join(', ')}`, subject)
    }
  },
  async 'refusal.after-upload'(probe) {
    const late = probe.blob()
    const digest = await probe.executions.store(rootOf([late]))
    const { code } = await probe.executions.try(digest)
    ensure(code !== STATUS.ok, 'a refusal', 'OK')
    await probe.put(late)
    same('exit code', (await probe.executions.run(digest)).result.exitCode, 0)
  },
  async 'refusal.wrong-size'({ executions }) {
    const digest = await executions.store({})
    const ending = await executions.try({ ...digest, sizeBytes: digest.sizeBytes + 1 })
    endsWith('it', ending, STATUS.failedPrecondition, STATUS.invalidArgument, STATUS.notFound)
  },
  async 'refusal.no-action'({ executions }) {
    invalid('it', await executions.end(executions.open(undefined)))
  },
  async 'refusal.malformed-digest'({ executions, blob }) {
    const { hash, sizeBytes } = blob().digest
    invalid('it', await executions.try({ hash: hash.slice(1), sizeBytes }))
  },
  async 'refusal.not-an-action'({ executions, put, blobOf, random }) {
    const { digest } = await put(blobOf(Buffer.from([0xff, 0xff, ...random.bytes(16)])))
    invalid('it', await executions.try(digest))
  },
  async 'refusal.no-arguments'({ executions }) {
    invalid('it', await executions.try({ command: { arguments: [] } }))
  },
  async 'refusal.unknown-property'({ executions, operations, random, soon }) {
    const property = `check-${random.word()}`
    const platform = { properties: [{ name: property, value: 'x' }] }
    const stream = executions.open(await executions.store({ command: { platform }, action: { platform } }))
    const seen: OperationMessage[] = []
    const ending = await soon(executions.end(recordedIn(seen, stream)))
    if (ending === undefined) {
      stream.close()
      isQueued(seen)
      await operations.cancel(seen.at(-1)?.name ?? '').catch(() => {}) // optional; the action never gets a worker
    } else {
      endsWith('it', ending, STATUS.invalidArgument, STATUS.failedPrecondition)
      ensure(ending.message.includes(property), `a message that contains ${property}`, ending.message || 'no message')
    }
  },
} satisfies Partial<Record<ExecutionId, Check>>
