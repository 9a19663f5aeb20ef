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

describe('the services', () => {
  test('are listed by both versions, themselves included, in order', async () => {
    const names = ['grpc.health.v1.Health', ...ours.map(({ name }) => name)]
    for (const service of ours) expect(await ask([{ ask: 'services' }], service)).toEqual([{ tell: 'services', names }])
  })

  test('are each described by a file', async () => {
    for (const symbol of ['grpc.health.v1.Health', ...ours.map(({ name }) => name)])
      expect(await filesFor({ ask: 'symbol', symbol })).toHaveLength(1)
  })

  test('that are added later are listed from then on, once', async () => {
    const served = ['a.A']
    const [service] = reflection(new Uint8Array(), () => served)
    served.push('b.B', 'grpc.reflection.v1.ServerReflection')
    const [answer] = await ask([{ ask: 'services' }], service)
    expect(answer).toMatchObject({ names: ['a.A', 'b.B', ...ours.map(({ name }) => name)] })
  })
})

describe('a symbol', () => {
  test.each([
    ['a service', 'grpc.health.v1.Health'],
    ['a method', 'grpc.health.v1.Health.Watch'],
    ['a message', 'grpc.health.v1.HealthCheckRequest'],
    ['a nested enum', 'grpc.health.v1.HealthCheckResponse.ServingStatus'],
    ['an enum value', 'grpc.health.v1.HealthCheckResponse.NOT_SERVING'],
    ['a field', 'grpc.health.v1.HealthCheckRequest.service'],
  ])('that is %s leads to its file', async (_, symbol) => {
    expect(await filesFor({ ask: 'symbol', symbol })).toEqual(['grpc/health/v1/health.proto'])
  })

  test('inside a nested message leads to its file, followed by the imports', async () => {
    const symbol = 'google.rpc.QuotaFailure.Violation'
    expect(await filesFor({ ask: 'symbol', symbol })).toEqual([
      'google/rpc/error_details.proto',
      'google/protobuf/duration.proto',
    ])
  })

  test('that nobody knows is an error in the stream, which goes on', async () => {
    const [first, second] = await ask([{ ask: 'symbol', symbol: 'a.B' }, { ask: 'services' }])
    expect(first).toEqual({ tell: 'error', code: STATUS.notFound, message: 'symbol a.B not found' })
    expect(second?.tell).toBe('services')
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

  test('come with all they import, each once, the one asked for first', async () => {
    expect(await filesFor({ ask: 'file', name: 'top.proto' }, diamond)).toEqual(
      ['top', 'left', 'right', 'base'].map(proto),
    )
  })

  test('sent before as imports are left out later on the same stream, but for the one asked for', async () => {
    const answers = await ask(
      ['left', 'top', 'left'].map((name) => ({ ask: 'file', name: proto(name) })),
      diamond,
    )
    expect(answers.map(names)).toEqual([['left', 'base'], ['top', 'right'], ['left']].map((all) => all.map(proto)))
  })

  test('are found by the extensions they declare', async () => {
    const question = { ask: 'extension', extendee: 'd.Base', number: 110 } as const
    expect(await filesFor(question, diamond)).toEqual(['right.proto', 'base.proto'])
    expect(await ask([{ ...question, number: 111 }], diamond)).toMatchObject([{ tell: 'error', code: STATUS.notFound }])
  })

  test('tell the numbers that extend a type, none for a plain one, an error for an unknown one', async () => {
    const numbers = (extendee: string) => ask([{ ask: 'extensionNumbers', extendee }], diamond)
    expect(await numbers('d.Base')).toEqual([{ tell: 'extensionNumbers', extendee: 'd.Base', numbers: [110, 120] }])
    expect(await numbers('d.Nobody')).toMatchObject([{ tell: 'error', code: STATUS.notFound }])
    const plain = { ask: 'extensionNumbers', extendee: 'google.rpc.Status' } as const
    expect(await ask([plain])).toMatchObject([{ tell: 'extensionNumbers', numbers: [] }])
  })

  test('that nobody knows are an error in the stream', async () => {
    expect(await ask([{ ask: 'file', name: 'no.proto' }])).toMatchObject([{ tell: 'error', code: STATUS.notFound }])
  })
})

test('a question of an unknown kind is answered as such', async () => {
  expect(await ask([{ ask: 'unknown' }])).toMatchObject([{ tell: 'error', code: STATUS.invalidArgument }])
})

test('bytes that are no question end the stream and blame the caller', async () => {
  await expect(converse([Uint8Array.of(0x0a, 0xff)])).rejects.toMatchObject({ code: STATUS.invalidArgument })
})

test('a peer that does not read its answers is not asked for more questions', async () => {
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

/** Each answer must also repeat its question. */
async function ask(questions: readonly ReflectionQuestion[], service = ours[0]): Promise<ReflectionAnswer[]> {
  const requests = questions.map((question) => ({ host: 'here', question }))
  const answers = await converse(requests.map(reflectionRequestToProto), service)
  const responses = answers.map(reflectionResponseFromProto)
  expect(responses.map(({ request }) => request)).toEqual(requests)
  return responses.map(({ answer }) => answer)
}

const names = (answer: ReflectionAnswer | undefined): string[] =>
  answer?.tell === 'files' ? answer.files.map((file) => fromBinary(FileDescriptorProtoSchema, file).name) : []

const filesFor = async (question: ReflectionQuestion, service = ours[0]): Promise<string[]> =>
  names((await ask([question], service))[0])
