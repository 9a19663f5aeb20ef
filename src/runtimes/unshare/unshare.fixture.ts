import { type RoomsBy, roomsBy } from '../sandbox/sandbox.fixture.ts'
import { unshareRuntime } from './unshare.ts'

export const unshareBy = (by: RoomsBy) => roomsBy(by, unshareRuntime)
