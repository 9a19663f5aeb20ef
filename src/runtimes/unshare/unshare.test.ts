import { describeWith } from '../../testing/require.ts'
import { runtimeContract } from '../run/contract.ts'
import { unshareBy } from './unshare.fixture.ts'

describeWith('unshare', 'rooms by unshare', () => {
  runtimeContract('through a spawner, with control groups where there are any', async () =>
    unshareBy({ way: 'spawner', useGroups: true }),
  )
  runtimeContract('through a spawner, without control groups', async () =>
    unshareBy({ way: 'spawner', useGroups: false }),
  )
})
