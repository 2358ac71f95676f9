import { Anchor, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { ChoiceBar } from '../../../shared/choice-bar';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to } from '../../../shared/routes';
import { usePathParams } from '../../../shared/use-path-params';
import { feedbackQuery } from '../queries';
import { FeedbackCard } from './feedback-card';

/** What users said of answers, for the owners of the partition, who make questions of it. */
function FeedbackPage() {
  const { partition = '' } = usePathParams<{ partition: string }>();
  const { evaluation: t, common, ask } = useMessages();
  const [rating, setRating] = useState<'up' | 'down' | null>(null);
  const feedback = useQuery(feedbackQuery(partition, rating));
  return (
    <Page
      title={`${t.feedback}${common.colon}${partition}`}
      hint={
        <Anchor component={Link} href={to.evaluation(partition)} size="sm">
          ← {t.evaluation}
          {common.colon}
          {partition}
        </Anchor>
      }
      actions={
        <ChoiceBar
          label={t.rating}
          choices={[
            { value: '', label: common.all },
            { value: 'up', label: ask.thumbs.up },
            { value: 'down', label: ask.thumbs.down },
          ]}
          value={rating ?? ''}
          onChange={(value) => setRating(value === '' ? null : value)}
        />
      }
    >
      <QueryView query={feedback}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={t.noFeedback}>{t.noFeedbackHint}</Empty>
          ) : (
            <Stack gap="sm">
              {list.map((one) => (
                <FeedbackCard key={one.feedback_id} partition={partition} feedback={one} />
              ))}
            </Stack>
          )
        }
      </QueryView>
    </Page>
  );
}

export default FeedbackPage;
