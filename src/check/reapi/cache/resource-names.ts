import { STATUS } from '../../../grpc/status.ts'
import { ensure, expectRefusal, sameBytes } from '../../unmet.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const INVALID = STATUS.invalidArgument
/** NOT_FOUND and UNIMPLEMENTED are accepted as well. */
const REFUSALS = [STATUS.invalidArgument, STATUS.unimplemented, STATUS.notFound] as const
const HEADER = 'build.bazel.remote.execution.v2.resource-name'

const prefixOf = ({ offer }: Probe): string => (offer.instance === '' ? '' : `${offer.instance}/`)

const refusesReadAs =
  (compressor: string): Check =>
  async ({ bytestream, names, blob, put }) => {
    const { digest } = await put(blob())
    await expectRefusal(`a read as ${compressor}`, REFUSALS, bytestream.read(names.read(digest, { compressor })))
  }

const refusesWriteAs =
  (compressor: string): Check =>
  async ({ bytestream, names, blob }) => {
    const { bytes, digest } = blob()
    const call = bytestream.write(names.write(digest, { compressor }), bytes)
    await expectRefusal(`a write as ${compressor}`, REFUSALS, call)
  }

export const resourceNameChecks = {
  async 'names.slashed-instance'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob())
    sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
  },
  async 'names.write-metadata'({ bytestream, names, blob, isMissing }) {
    const { bytes, digest } = blob()
    await bytestream.write(`${names.write(digest)}/made/by-a-client`, bytes)
    ensure(!(await isMissing(digest)), 'the blob not to be reported missing', 'it is reported missing')
  },
  async 'names.uuid-again'({ bytestream, names, blob, random, api }) {
    const uuid = random.uuid()
    const blobs = [blob(), blob(), blob()]
    for (const { bytes, digest } of blobs) await bytestream.write(names.write(digest, { uuid }), bytes)
    const missing = await api.findMissing(blobs.map(({ digest }) => digest))
    ensure(missing.length === 0, 'none of the three blobs to be reported missing', `${missing.length} reported missing`)
  },
  async 'names.needless-segment'(probe) {
    const { digest } = await probe.put(probe.blob())
    const name = `${prefixOf(probe)}blobs/sha256/${digest.hash}/${digest.sizeBytes}`
    await expectRefusal('a name with sha256/ in it', INVALID, probe.bytestream.read(name))
  },
  'names.identity-read': refusesReadAs('identity'),
  'names.identity-write': refusesWriteAs('identity'),
  'names.unknown-compressor-read': refusesReadAs('shrink'),
  'names.unknown-compressor-write': refusesWriteAs('shrink'),
  async 'names.malformed-read'(probe) {
    await expectRefusal('a read', INVALID, probe.bytestream.read(`${prefixOf(probe)}no/such/name`))
  },
  async 'names.malformed-write'(probe) {
    const { bytes, digest } = probe.blob()
    const name = `${prefixOf(probe)}downloads/${probe.random.uuid()}/blobs/${digest.hash}/${digest.sizeBytes}`
    await expectRefusal('a write', INVALID, probe.bytestream.write(name, bytes))
  },
  async 'names.malformed-query'(probe) {
    await expectRefusal('a query', INVALID, probe.bytestream.query(`${prefixOf(probe)}no/such/name`))
  },
  async 'names.size-not-a-number'(probe) {
    const { digest } = probe.blob()
    await expectRefusal('a read', INVALID, probe.bytestream.read(`${prefixOf(probe)}blobs/${digest.hash}/many`))
  },
  async 'names.header-accepted'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    const [upload, download] = [names.write(digest), names.read(digest)]
    await bytestream.write(upload, bytes, { metadata: { [HEADER]: upload } })
    sameBytes('the blob', await bytestream.read(download, { metadata: { [HEADER]: download } }), bytes)
  },
  async 'names.header-mismatch'({ bytestream, names, blob, put }) {
    const [one, other] = [await put(blob()), await put(blob())]
    const call = bytestream.read(names.read(one.digest), { metadata: { [HEADER]: names.read(other.digest) } })
    await expectRefusal('a read with two different names', INVALID, call)
  },
} satisfies Partial<Record<BehaviourId, Check>>
