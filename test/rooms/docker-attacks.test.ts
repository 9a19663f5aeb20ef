import { CONTAINER_USER, dockerBy } from '../../src/runtimes/docker/docker.fixture.ts'
import { type Attacked, addSystem, attackSuite, whyNoAttacks } from './docker-attack-suite.ts'
import { type RunningEngine, startDocker, whyNoDocker } from './docker-daemon.ts'
import { importImage } from './docker-image.ts'
import { startPodman, whyNoPodman } from './docker-podman.ts'

const IMAGE = 'localhost/attacked:latest'

async function attackedOn(engine: RunningEngine): Promise<Attacked> {
  addSystem(engine.root)
  await importImage({ socketPath: engine.socketPath, root: engine.root, name: IMAGE })
  const driver = dockerBy(engine.socketPath, IMAGE)
  const close = async (): Promise<void> => {
    await driver.close()
    await engine.stop()
  }
  return { runtime: driver.runtime, uid: CONTAINER_USER.uid, close }
}

attackSuite({
  name: 'Docker',
  why: whyNoDocker() ?? whyNoAttacks(),
  start: async () => attackedOn(await startDocker()),
  otherwise: {},
})

attackSuite({
  name: 'Podman as root',
  why: whyNoPodman('rootful') ?? whyNoAttacks(),
  start: async () => attackedOn(await startPodman()),
  // In /run there is a mark by which programs see that they are in one of its containers.
  otherwise: { 'host-files.sh': 'through' },
})
