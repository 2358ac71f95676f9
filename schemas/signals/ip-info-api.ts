import { z } from 'zod';

export const IpInfoParams = z.object({
  ip: z
    .string()
    .min(1, 'must NOT have fewer than 1 characters')
    .max(64, 'must NOT have more than 64 characters')
    .meta({ description: 'An address, or a range with its slash encoded' }),
});

const text = z.string().optional();

export const IpInfoBody = z
  .object({
    ip: z.string().meta({ description: 'As it was given' }),
    reverseDns: z.array(z.string()),
    whois: z
      .object({
        netName: text,
        netRange: text,
        cidr: text,
        organization: text,
        country: text,
        descr: text,
        abuse: text,
      })
      .nullable(),
    error: text.meta({ description: 'Which of the sources failed; the rest is right all the same' }),
  })
  .meta({ id: 'IpInfoBody' });
