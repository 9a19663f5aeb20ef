import { networkInterfaces } from 'node:os'

/** Every address of this machine. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address))
