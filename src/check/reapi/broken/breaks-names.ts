import { Metadata } from '../../../grpc/metadata.ts'
import type { ServerCall } from '../../../grpc/service.ts'
import { STATUS } from '../../../grpc/status.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { type Break, fail, misread, misreadMessages, when, whenOpened } from './break.ts'

const INVALID = STATUS.invalidArgument
const HEADER = 'build.bazel.remote.execution.v2.resource-name'

const readsAs = (from: string, to: string): Break =>
  misread('read', (request) => ({ ...request, resourceName: request.resourceName.replace(from, to) }))

const writesAs = (from: string, to: string): Break =>
  misreadMessages((message) => ({ ...message, resourceName: message.resourceName.replace(from, to) }))

const usesAnIdOnce: Break = ({ methods }) => {
  const used = new Set<string>()
  return {
    write: (requests, call) =>
      methods.write(
        (async function* () {
          for await (const request of requests) {
            const id = /uploads\/([^/]+)/.exec(request.resourceName)?.[1]
            if (id !== undefined && used.has(id)) fail(INVALID)()
            if (id !== undefined) used.add(id)
            yield request
          }
        })(),
        call,
      ),
  }
}

export const nameBreaks = {
  'names.slashed-instance': when(
    'read',
    ({ resourceName }) => /^[^/]+\/[^/]+\/blobs\//.test(resourceName),
    fail(INVALID),
  ),
  'names.write-metadata': whenOpened(
    ({ resourceName }) => /\/\d+\/.+$/.test(resourceName.split('blobs/')[1] ?? ''),
    fail(INVALID),
  ),
  'names.uuid-again': usesAnIdOnce,
  'names.needless-segment': readsAs('blobs/sha256/', 'blobs/'),
  'names.identity-read': readsAs('compressed-blobs/identity/', 'blobs/'),
  'names.identity-write': writesAs('compressed-blobs/identity/', 'blobs/'),
  'names.unknown-compressor-read': readsAs('compressed-blobs/shrink/', 'blobs/'),
  'names.unknown-compressor-write': writesAs('compressed-blobs/shrink/', 'blobs/'),
  'names.malformed-read': when(
    'read',
    ({ resourceName }) => !resourceName.includes('blobs/'),
    () => [],
  ),
  'names.malformed-write': whenOpened(
    ({ resourceName }) => !resourceName.includes('uploads/'),
    ({ data }) => ({ committedSize: data.length }),
  ),
  'names.malformed-query': when(
    'queryWriteStatus',
    ({ resourceName }) => !resourceName.includes('uploads/'),
    () => ({ committedSize: 0, complete: false }),
  ),
  'names.size-not-a-number': when('read', ({ resourceName }) => /\/[a-z]+$/.test(resourceName), fail(STATUS.notFound)),
  'names.header-accepted': ({ methods }) => ({
    read(request, call) {
      if (call.metadata.get(HEADER) !== undefined) fail(INVALID)()
      return methods.read(request, call)
    },
  }),
  'names.header-mismatch': ({ methods }) => ({
    read: (request) => methods.read(request, { metadata: new Metadata([]) } as Partial<ServerCall> as ServerCall),
  }),
} satisfies Partial<Record<BehaviourId, Break>>
