import { afterAll, beforeAll, describe } from 'vitest'
import { dockerBy } from '../../src/runtimes/docker/docker.fixture.ts'
import { runtimeContract } from '../../src/runtimes/run/contract.ts'
import { IMAGE, type RunningEngine } from './docker-daemon.ts'
import { type PodmanUser, startPodman, temporaryUser, whyNoPodman } from './docker-podman.ts'

const optionsFor = (why: string | undefined) => (why === undefined ? {} : { skip: true, meta: { skipReason: why } })

describe('rooms of Podman as root', optionsFor(whyNoPodman('rootful')), () => {
  let engine: RunningEngine
  beforeAll(async () => {
    engine = await startPodman()
  })
  afterAll(() => engine?.stop())

  runtimeContract('through its Docker socket', async () => dockerBy(engine.socketPath, IMAGE))
})

describe('rooms of Podman as an ordinary user', optionsFor(whyNoPodman('rootless')), () => {
  let user: PodmanUser & Disposable
  let engine: RunningEngine
  beforeAll(async () => {
    user = temporaryUser()
    engine = await startPodman(user)
  })
  afterAll(async () => {
    await engine?.stop()
    user?.[Symbol.dispose]()
  })

  runtimeContract('through its Docker socket', async () => dockerBy(engine.socketPath, IMAGE, { user }))
})
