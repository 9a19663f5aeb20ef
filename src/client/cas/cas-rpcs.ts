import type { Digest } from '../../base/digest.ts'
import { readReadResponse, readWriteResponse } from '../../wire/calls/byte-stream.ts'
import { capabilitiesFromProto, capabilitiesRequestToProto } from '../../wire/reapi/capabilities.ts'
import * as wire from '../../wire/reapi/cas-calls.ts'
import type { Rpc } from '../connection/rpc.ts'
import { fromServer } from '../connection/server-fault.ts'

const REAPI = '/build.bazel.remote.execution.v2'
const CAS = `${REAPI}.ContentAddressableStorage`
const BYTE_STREAM = '/google.bytestream.ByteStream'

const careful = <Request, Response>(rpc: Rpc<Request, Response>) => ({ ...rpc, decode: fromServer(rpc.decode) })

/** The calls of one instance, for digests of one function. */
export const casRpcs = (scope: wire.CasScope) => ({
  capabilities: careful({
    path: `${REAPI}.Capabilities/GetCapabilities`,
    encode: capabilitiesRequestToProto,
    decode: capabilitiesFromProto,
  }),
  findMissing: careful({
    path: `${CAS}/FindMissingBlobs`,
    encode: (digests: readonly Digest[]) => wire.findMissingToProto(scope, digests),
    decode: (bytes) => wire.missingFromProto(bytes, scope.fn),
  }),
  update: careful({
    path: `${CAS}/BatchUpdateBlobs`,
    encode: (blobs: readonly wire.PackedBlob[]) => wire.batchUpdateToProto(scope, blobs),
    decode: (bytes) => wire.batchUpdatedFromProto(bytes, scope.fn),
  }),
  readMany: careful({
    path: `${CAS}/BatchReadBlobs`,
    encode: (digests: readonly Digest[]) => wire.batchReadToProto(scope, digests),
    decode: (bytes) => wire.batchReadFromProto(bytes, scope.fn),
  }),
  splice: careful({
    path: `${CAS}/SpliceBlob`,
    encode: (splice: wire.Splice) => wire.spliceToProto(scope, splice),
    decode() {},
  }),
  read: careful({ path: `${BYTE_STREAM}/Read`, encode: wire.readToProto, decode: readReadResponse }),
})

export const WRITE_RPC: Rpc<wire.WritePiece, number> = careful({
  path: `${BYTE_STREAM}/Write`,
  encode: wire.writeToProto,
  decode: readWriteResponse,
})
