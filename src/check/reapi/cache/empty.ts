import { STATUS } from '../../../grpc/status.ts'
import { ensure, same, sameStatus } from '../../unmet.ts'
import { encodedDirectory, storedResult } from '../probe/actions.ts'
import { advertised } from '../probe/compressors.ts'
import { digestWith, fieldOf } from '../probe/digest-functions.ts'
import type { Check } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const NOTHING = new Uint8Array()

export const emptyChecks = {
  async 'empty.find-missing'({ isMissing, fn }) {
    ensure(
      !(await isMissing(digestWith(fn, NOTHING))),
      'the empty blob not to be reported missing',
      'it is reported missing',
    )
  },
  async 'empty.find-missing-every-function'({ api, offer }) {
    for (const fn of offer.functions) {
      const missing = await api.findMissing([digestWith(fn, NOTHING)], { digestFunction: fieldOf(fn) })
      ensure(
        missing.length === 0,
        `the empty blob not to be reported missing with ${fn.name}`,
        'it is reported missing',
      )
    }
  },
  async 'empty.batch-update'({ api, fn }) {
    const [answer] = await api.batchUpdate([{ digest: digestWith(fn, NOTHING), data: NOTHING }])
    sameStatus('the empty blob', answer?.status?.code, STATUS.ok)
  },
  async 'empty.batch-read'({ api, fn }) {
    const [answer] = await api.batchRead([digestWith(fn, NOTHING)])
    ensure(answer !== undefined, 'an answer', 'none')
    sameStatus('the empty blob', answer.status?.code, STATUS.ok)
    same('bytes:', answer.data.length, 0)
  },
  async 'empty.read'({ bytestream, names, fn }) {
    const bytes = await bytestream.read(names.read(digestWith(fn, NOTHING)))
    same('bytes:', bytes.length, 0)
  },
  async 'empty.read-compressed'({ bytestream, names, offer, fn }) {
    for (const { name, decompress } of advertised(offer.cache)) {
      const bytes = await bytestream.read(names.read(digestWith(fn, NOTHING), { compressor: name }))
      // An empty response is the empty blob in any form.
      same(`bytes as ${name}:`, bytes.length === 0 ? 0 : decompress(bytes).length, 0)
    }
  },
  async 'empty.write'({ bytestream, names, fn }) {
    same('committed_size', await bytestream.write(names.write(digestWith(fn, NOTHING)), NOTHING), 0)
  },
  async 'empty.query'({ bytestream, names, fn }) {
    const { complete } = await bytestream.query(names.write(digestWith(fn, NOTHING)))
    ensure(complete, 'complete', 'incomplete')
  },
  async 'empty.get-tree'({ api, fn }) {
    const directories = (await api.getTree(digestWith(fn, NOTHING))).flatMap((page) => page.directories)
    same('directories:', directories.length, 1)
    const [root] = directories
    same('bytes in it:', root === undefined ? -1 : encodedDirectory(root).length, 0)
  },
  async 'empty.action-cache'(probe) {
    const { actionDigest } = await storedResult(probe, {
      outputFiles: [{ path: 'empty', digest: digestWith(probe.fn, NOTHING) }],
      stdoutDigest: digestWith(probe.fn, NOTHING),
    })
    const { outputFiles } = await probe.api.getResult(actionDigest)
    same('output files:', outputFiles.length, 1)
  },
  async 'empty.splice'({ api, blob, blobOf, put, fn, isMissing }) {
    const [one, two] = [await put(blob()), await put(blob())]
    const whole = blobOf(Buffer.concat([one.bytes, two.bytes])).digest
    await api.splice({ blobDigest: whole, chunkDigests: [one.digest, digestWith(fn, NOTHING), two.digest] })
    ensure(!(await isMissing(whole)), 'the blob not to be reported missing', 'it is reported missing')
  },
} satisfies Partial<Record<BehaviourId, Check>>
