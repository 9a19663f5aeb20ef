import { invalid } from '../../../base/fault.ts'
import type { ServerCall } from '../../../grpc/service.ts'

const HEADER = 'build.bazel.remote.execution.v2.resource-name'

/** A proxy may have routed the call by this header, so it must equal the name in the request. */
export function checkResourceNameHeader({ metadata }: ServerCall, resourceName: string): void {
  const named = metadata.get(HEADER)
  if (named === undefined || named === resourceName) return
  throw invalid(`the header ${HEADER} names another resource than the message`)
}
