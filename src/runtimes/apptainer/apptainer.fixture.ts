import { type RoomsBy, roomsBy } from '../sandbox/sandbox.fixture.ts'
import { type ApptainerOptions, apptainerRuntime } from './apptainer.ts'

/** A user with an account on every machine, which Apptainer requires. */
export const NOBODY = { uid: 65_534, gid: 65_534 }

export const apptainerBy = (by: RoomsBy, more: Pick<ApptainerOptions, 'images'> & Partial<ApptainerOptions>) =>
  roomsBy(by, (options) =>
    apptainerRuntime({ ...options, user: options.user === undefined ? undefined : NOBODY, ...more }),
  )
