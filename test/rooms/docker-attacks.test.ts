import { CONTAINER_USER, dockerBy } from '../../src/runtimes/docker/docker.fixture.ts'
import { type Attacked, attackSuite } from './attack-suite.ts'
import { addSystem, whyNoAttackedImage } from './attacked-image.ts'
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

attackSuite([
  {
    room: 'docker',
    how: 'of a worker that is root',
    why: whyNoDocker() ?? whyNoAttackedImage(),
    start: async () => attackedOn(await startDocker()),
  },
  {
    room: 'podman',
    how: 'of a worker that is root',
    why: whyNoPodman('rootful') ?? whyNoAttackedImage(),
    start: async () => attackedOn(await startPodman()),
  },
])
