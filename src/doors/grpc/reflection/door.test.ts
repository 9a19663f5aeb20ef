import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { describe, expect, test } from 'vitest'
import { STATUS } from '../../../grpc/status.ts'
import { fakeCall, fakeIncoming, fakeOutgoing } from '../../../testing/grpc-call.ts'
import { descriptorSet } from '../../../wire/admin/descriptor-set.ts'
import {
  type ReflectionAnswer,
  type ReflectionQuestion,
  reflectionRequestToProto,
  reflectionResponseFromProto,
} from '../../../wire/admin/reflection.ts'
import { grpcHealth } from '../health/door.ts'
import { reflection } from './door.ts'

const ours = reflection(descriptorSet(), () => [grpcHealth().service.name])

describe('listed services', () => {
  test('both versions list all services, reflection included, in order', async () => {
    const names = ['grpc.health.v1.Health', ...ours.map(({ name }) => name)]
    for (const service of ours) expect(await ask([{ ask: 'services' }], service)).toEqual([{ kind: 'services', names }])
  })

  test('each service is described by one file', async () => {
    for (const symbol of ['grpc.health.v1.Health', ...ours.map(({ name }) => name)])
      expect(await filesFor({ ask: 'symbol', symbol })).toHaveLength(1)
  })

  test('a service that is added later is listed, once', async () => {
    const served = ['a.A']
    const [service] = reflection(new Uint8Array(), () => served)
    served.push('b.B', 'grpc.reflection.v1.ServerReflection')
    const [answer] = await ask([{ ask: 'services' }], service)
    expect(answer).toMatchObject({ names: ['a.A', 'b.B', ...ours.map(({ name }) => name)] })
  })
})

describe('symbols', () => {
  test.each([
    ['a service', 'grpc.health.v1.Health'],
    ['a method', 'grpc.health.v1.Health.Watch'],
    ['a message', 'grpc.health.v1.HealthCheckRequest'],
    ['a nested enum', 'grpc.health.v1.HealthCheckResponse.ServingStatus'],
    ['an enum value', 'grpc.health.v1.HealthCheckResponse.NOT_SERVING'],
    ['a field', 'grpc.health.v1.HealthCheckRequest.service'],
  ])('%s is found in its file', async (_, symbol) => {
    expect(await filesFor({ ask: 'symbol', symbol })).toEqual(['grpc/health/v1/health.proto'])
  })

  test('a nested message is found in its file, followed by the imports', async () => {
    const symbol = 'google.rpc.QuotaFailure.Violation'
    expect(await filesFor({ ask: 'symbol', symbol })).toEqual([
      'google/rpc/error_details.proto',
      'google/protobuf/duration.proto',
    ])
  })

  test('an unknown symbol is a NOT_FOUND error in the stream, which continues', async () => {
    const [first, second] = await ask([{ ask: 'symbol', symbol: 'a.B' }, { ask: 'services' }])
    expect(first).toEqual({ kind: 'error', code: STATUS.notFound, message: 'symbol a.B not found' })
    expect(second?.kind).toBe('services')
  })
})

describe('files', () => {
  /** top → left, right; left → base; right → base. */
  const diamond = reflection(
    setOf(
      { name: 'base.proto', package: 'd', messageType: [{ name: 'Base', extensionRange: [{ start: 100, end: 200 }] }] },
      { name: 'left.proto', package: 'd', dependency: ['base.proto'], extension: [extension('left', 120)] },
      { name: 'right.proto', package: 'd', dependency: ['base.proto'], extension: [extension('right', 110)] },
      { name: 'top.proto', package: 'd', dependency: ['left.proto', 'right.proto', 'absent.proto'] },
    ),
    () => [],
  )[0]

  test('a file is sent with all its imports, each once, the requested file first', async () => {
    expect(await filesFor({ ask: 'file', name: 'top.proto' }, diamond)).toEqual(
      ['top', 'left', 'right', 'base'].map(proto),
    )
  })

  test('an import that was sent before on the stream is omitted, unless it is requested itself', async () => {
    const answers = await ask(
      ['left', 'top', 'left'].map((name) => ({ ask: 'file', name: proto(name) })),
      diamond,
    )
    expect(answers.map(names)).toEqual([['left', 'base'], ['top', 'right'], ['left']].map((all) => all.map(proto)))
  })

  test('a file is found by an extension that it declares', async () => {
    const question = { ask: 'extension', extendee: 'd.Base', number: 110 } as const
    expect(await filesFor(question, diamond)).toEqual(['right.proto', 'base.proto'])
    expect(await ask([{ ...question, number: 111 }], diamond)).toMatchObject([{ kind: 'error', code: STATUS.notFound }])
  })

  test('extension numbers are listed for a type, none for a plain type, NOT_FOUND for an unknown one', async () => {
    const numbers = (extendee: string) => ask([{ ask: 'extensionNumbers', extendee }], diamond)
    expect(await numbers('d.Base')).toEqual([{ kind: 'extensionNumbers', extendee: 'd.Base', numbers: [110, 120] }])
    expect(await numbers('d.Nobody')).toMatchObject([{ kind: 'error', code: STATUS.notFound }])
    const plain = { ask: 'extensionNumbers', extendee: 'google.rpc.Status' } as const
    expect(await ask([plain])).toMatchObject([{ kind: 'extensionNumbers', numbers: [] }])
  })

  test('an unknown file is a NOT_FOUND error in the stream', async () => {
    expect(await ask([{ ask: 'file', name: 'no.proto' }])).toMatchObject([{ kind: 'error', code: STATUS.notFound }])
  })
})

test('a request of an unknown kind is answered with INVALID_ARGUMENT', async () => {
  expect(await ask([{ ask: 'unknown' }])).toMatchObject([{ kind: 'error', code: STATUS.invalidArgument }])
})

test('bytes that are no request end the stream with INVALID_ARGUMENT', async () => {
  await expect(converse([Uint8Array.of(0x0a, 0xff)])).rejects.toMatchObject({ code: STATUS.invalidArgument })
})

test('a client that does not read responses has no further request read', async () => {
  const call = fakeCall()
  const out = fakeOutgoing(call)
  out.fallBehind()
  const question = reflectionRequestToProto({ host: '', question: { ask: 'services' } })
  const done = methodOf(ours[0]).handle(fakeIncoming([question, question]), out, call)
  await new Promise(setImmediate)
  expect(out.messages).toHaveLength(1)
  out.catchUp()
  await done
  expect(out.messages).toHaveLength(2)
})

const proto = (name: string): string => `${name}.proto`
function extension(name: string, number: number) {
  return { name, number, extendee: '.d.Base' }
}

function setOf(...file: MessageInitShape<typeof FileDescriptorProtoSchema>[]): Uint8Array {
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }))
}

function methodOf(service = ours[0]) {
  const method = service?.methods.ServerReflectionInfo
  if (method?.kind !== 'bidi') throw new Error('reflection is a two-way stream')
  return method
}

async function converse(requests: readonly Uint8Array[], service = ours[0]): Promise<Uint8Array[]> {
  const call = fakeCall()
  const out = fakeOutgoing(call)
  await methodOf(service).handle(fakeIncoming(requests), out, call)
  return out.messages
}

/** Each response must also repeat its request. */
async function ask(questions: readonly ReflectionQuestion[], service = ours[0]): Promise<ReflectionAnswer[]> {
  const requests = questions.map((question) => ({ host: 'here', question }))
  const answers = await converse(requests.map(reflectionRequestToProto), service)
  const responses = answers.map(reflectionResponseFromProto)
  expect(responses.map(({ request }) => request)).toEqual(requests)
  return responses.map(({ answer }) => answer)
}

const names = (answer: ReflectionAnswer | undefined): string[] =>
  answer?.kind === 'files' ? answer.files.map((file) => fromBinary(FileDescriptorProtoSchema, file).name) : []

const filesFor = async (question: ReflectionQuestion, service = ours[0]): Promise<string[]> =>
  names((await ask([question], service))[0])
