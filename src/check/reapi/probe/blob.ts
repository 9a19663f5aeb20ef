import type { Digest } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'

export interface Blob {
  readonly bytes: Uint8Array
  readonly digest: Digest
}
