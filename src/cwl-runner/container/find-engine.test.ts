import { expect, test } from 'vitest'
import type { Runtime } from '../../runtimes/run/runtime.ts'
import { type ContainerService, type EngineCommands, findEngine } from './find-engine.ts'

const SOCKET = '/run/own/podman.sock'

interface World {
  /** The output of each command; a command that is not listed fails. */
  readonly answers?: Readonly<Record<string, string>>
  /** The number of failed attempts to open the engine before one succeeds. */
  readonly isLateBy?: number
  /** The service ends before it answers. */
  readonly serviceFails?: boolean
}

function world({ answers = {}, isLateBy = 0, serviceFails = false }: World) {
  const seen: string[] = []
  let late = isLateBy
  const commands: EngineCommands = {
    async ask(argv) {
      const stdout = answers[argv.slice(0, 2).join(' ')]
      return { isDone: stdout !== undefined, stdout: stdout ?? '', problem: '' }
    },
    async serve(argv, signal) {
      seen.push(argv.join(' '))
      if (!serviceFails) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      seen.push('service ended')
    },
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  }
  const open = async (socketPath: string): Promise<ContainerService> => {
    if (serviceFails || late-- > 0) throw new Error('no answer')
    seen.push(`opened ${socketPath}`)
    return { runtime: {} as Runtime, [Symbol.asyncDispose]: async () => void seen.push('closed') }
  }
  return { seen, find: () => findEngine(commands, SOCKET, open) }
}

const docker = (host: string) => ({ 'docker info': '', 'docker context': `${host}\n` })

test('findEngine uses Docker at the socket of its current context', async () => {
  const { seen, find } = world({ answers: docker('unix:///run/user/1/docker.sock') })
  expect((await find())?.program).toBe('docker')
  expect(seen).toEqual(['opened /run/user/1/docker.sock'])
})

test('findEngine starts a Podman service, which ends when the engine is closed', async () => {
  const { seen, find } = world({ answers: { 'podman info': '' }, isLateBy: 2 })
  const engine = await find()
  expect(engine?.program).toBe('podman')
  await engine?.[Symbol.asyncDispose]()
  const service = `podman system service --time=0 unix://${SOCKET}`
  expect(seen).toEqual([service, `opened ${SOCKET}`, 'closed', 'service ended'])
})

test('findEngine uses Podman when Docker runs on another machine, which lacks the files', async () => {
  const { find } = world({ answers: { ...docker('tcp://elsewhere:2375'), 'podman info': '' } })
  expect((await find())?.program).toBe('podman')
})

test('findEngine returns undefined when neither Docker nor Podman works', async () => {
  expect(await world({}).find()).toBeUndefined()
})

test('findEngine throws when the Podman service ends before it answers', async () => {
  const { find } = world({ answers: { 'podman info': '' }, serviceFails: true })
  await expect(find()).rejects.toThrow(`the service of podman does not answer at ${SOCKET}`)
})
