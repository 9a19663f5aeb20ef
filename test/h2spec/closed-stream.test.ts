import { expect, test } from 'vitest'
import { ERROR, FRAME_TYPE } from '../../src/grpc/http2/wire-format.ts'
import { call, frame } from '../../src/testing/http2-frames.ts'
import { RawHttp2 } from '../../src/testing/raw-http2.ts'
import { SERVICE } from '../interop/conversation.ts'
import { startedHere } from '../interop/started.ts'
import { windlassServer } from '../interop/windlass-server.ts'

const started = startedHere()

/** h2spec 6.3/2 tests this only when the response arrives before its PRIORITY: here it always does (RFC 7540 6.3). */
test('a PRIORITY frame of the wrong length is a FRAME_SIZE_ERROR, also on a closed stream', async () => {
  const { address } = await started(windlassServer())
  const raw = await started(RawHttp2.open('port' in address ? address.port : 0))
  raw.send(call(1, `/${SERVICE}/Unary`))
  await raw.answer(1)
  raw.send(frame({ type: FRAME_TYPE.priority, stream: 1 }, Buffer.alloc(4)))
  await raw.roundTrip()
  expect(raw.stream(1).resetCode ?? raw.goaway?.code).toBe(ERROR.frameSize)
})
