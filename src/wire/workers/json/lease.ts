import { z } from 'zod'
import type { LeaseMessage } from '../lease-stream.ts'
import { base64, maybe, readJson, shortText } from './read-json.ts'

/** A task for a worker that decodes the spec. */
export const leaseToJson = (lease: LeaseMessage): object => ({
  id: lease.attemptId,
  state: 'RUNNING',
  executor_type: 'worker',
  operation: lease.operation,
  origin: lease.origin,
  instance: lease.instance,
  attempt: lease.attempt,
  action_digest: lease.actionDigest,
  timeout_ms: lease.timeoutMs,
  expires_at_ms: lease.expiresAt,
  expires_in_ms: lease.expiresInMs,
  queued_at_ms: lease.queuedAt,
  spec: Buffer.from(lease.spec.buffer, lease.spec.byteOffset, lease.spec.length).toString('base64'),
})

const amount = () => z.number().min(0)

const LEASE = z
  .object({
    id: shortText().min(1),
    operation: shortText(),
    origin: shortText(),
    instance: shortText(),
    attempt: z.int().min(0),
    action_digest: shortText(),
    timeout_ms: maybe(amount()),
    expires_at_ms: amount(),
    expires_in_ms: amount(),
    queued_at_ms: maybe(amount()),
    spec: base64(),
  })
  .transform(
    (from): LeaseMessage => ({
      attemptId: from.id,
      operation: from.operation,
      origin: from.origin,
      instance: from.instance,
      attempt: from.attempt,
      actionDigest: from.action_digest,
      timeoutMs: from.timeout_ms,
      expiresAt: from.expires_at_ms,
      expiresInMs: from.expires_in_ms,
      queuedAt: from.queued_at_ms,
      spec: from.spec,
      prefetch: false,
    }),
  )

const ANSWER = z.object({ data: z.object({ tasks: z.array(LEASE) }) })

/** Decodes the leases of a response; the response may be empty. */
export const leasesFromJson = (json: unknown): readonly LeaseMessage[] =>
  json === undefined ? [] : readJson(ANSWER, json).data.tasks
