"""Notes about single values: what makes an interval too short or too wide, or a value other than it seems."""

from __future__ import annotations

from strat.base.notes.kinds import Kind

KINDS: tuple[Kind, ...] = (
    Kind(
        "few-units",
        "value",
        {
            "": "There are {n:unit} that hardly differ. Of such samples {missed:.0%} have no {unit} of a kind that "
            "makes up a tenth of all {units}. If such a kind does much worse, the interval is too short.",
            "any": "There are only {n:unit}. Of such samples {missed:.0%} have no {unit} of a kind that makes up a "
            "tenth of all {units}, so that none of them shows how {units} differ.",
        },
        do="Sample 29 {units} or more, or say that the result holds for {units} like these.",
    ),
    Kind(
        "two-kinds",
        "value",
        "Of {of:unit} {unlike:,} {unlike:is/are} unlike the others, which hardly differ. Another sample may have none "
        "of such a kind, or many more, and the interval may be too short.",
        do="Sample more {units}. Until then take the interval as too short.",
    ),
    Kind(
        "few-holders",
        "value",
        "Only {held:,} of {of:unit} {held:holds/hold} the rarer outcome (effective number {effective:.1f}). The "
        "interval may be too short.",
        effect="So few do not show how often such rows come together in one {unit}.",
        do="Sample more {units}. Until then take the interval as too short.",
    ),
    Kind(
        "few-of-class",
        "value",
        "The {measure} rests on {rows:.3g} rows of the rarer class. The interval may be too short.",
        effect="High values then go with small standard errors.",
        do="Add rows of that class.",
    ),
    Kind(
        "heavy-units",
        "value",
        {
            "": "A few {units} carry most of the weight: {df:.3g} effective degrees of freedom, not {nominal:g}. The "
            "interval is as wide as so few {units} make it, and holds for others only if these are typical.",
            "subjects": "A few {units} carry most of the {kind} comparisons: {df:.3g} effective degrees of freedom, "
            "not {nominal:g}. One takes part in {largest:.1%} of them. The interval holds for others only if these are "
            "typical. An average over {units} counts each the same, which is another question.",
        },
        do="Look at the largest {units}. Limit how many rows one may have, or weight {units} equally if that is the "
        "question.",
    ),
    Kind(
        "skewed-units",
        "value",
        {
            "values": "The values of {units} are skewed (skewness {skewness:.2g}, for which some {needed:.0f} {units} "
            "are needed; these are {n:.0f}). The interval may be too short. A quantile, or the mean of logarithms, is "
            "safer.",
            "differences": "The differences of {units} are skewed (skewness {skewness:.2g}, for which some "
            "{needed:.0f} {units} are needed; these are {n:.0f}). A one-sided limit on the side of their long tail is "
            "missed more often than its level says.",
            "errors": "The errors of {units} are skewed (skewness {skewness:.2g}, for which some {needed:.0f} {units} "
            "are needed; these are {n:.0f}). A sample that by chance has few of the bad {units} shows too small a "
            "difference and too small a spread, so that a one-sided limit is missed more often than its level says.",
        },
        do="Sample more {units}.",
    ),
    Kind(
        "thin-tail",
        "value",
        "Only {rows:.1f} effective rows lie beyond the {order:g} quantile. Its interval may be too short.",
        do="Ask for a quantile nearer to the middle, or add rows.",
    ),
    Kind(
        "one-outcome",
        "value",
        "In {n:unit} only one outcome was seen. The limits assume that rows of {a unit} have a correlation of at most "
        "about 0.3. Where whole {units} can fail, the 95 % limit is that of {effective:.3g} rows, {limit:.3g}.",
        do='`estimate.interval(method="exact")` gives such limits.',
        do_on_command_line='In Python `estimate.interval(method="exact")` gives such limits.',
    ),
    Kind(
        "no-variation",
        "value",
        {
            "": "Nothing varied in {of:the value/{still} of {of} values} between {units}. {limited:The limits allow "
            "for what these do not show/The interval is a point, which is not evidence of certainty}.",
            "splits": "The difference is {difference:g} in every split. Without variation there is neither a corrected "
            "t-test nor a posterior.",
            "posterior": "The difference is {difference:g} in every split. The posterior is a single point, which is "
            "not evidence of certainty.",
            "data sets": "In {same:,} of {n:data set} the difference is the same in every {unit}. A small variance is "
            "assumed there.",
            "decisions": "Both systems decide every comparison in the same way here, so that nothing varies. The "
            "interval is a point, which is not evidence of certainty.",
        },
        do="Add {units}.",
    ),
    Kind(
        "below-chance",
        "value",
        "{measure} {values:g} {n:is/are} below {chance:g}: is the positive class{positive:? ({positive})} or the "
        "direction of the score reversed?",
        do="Name the class in `positive`, or negate the score.",
        do_on_command_line="Name the class in --positive, or negate the score.",
    ),
    Kind(
        "noise-floor",
        "value",
        "Noise alone would show {noise:.3g} in such a sample. The value is too large by up to about that, which the "
        "interval allows for.",
        do="Report the interval, not the value.",
    ),
    Kind(
        "curved-statistic",
        "value",
        "Replicates lie {above:above/below} the value by {bias:.2g} standard errors on average: the statistic is far "
        "from linear at this sample size. The value is biased by about as much, and the interval may miss on one side.",
        do="Sample more {units}.",
    ),
    Kind(
        "dominant-replicate",
        "value",
        "One of the {replicates:,} replicates carries {share:.0%} of the variance, where the largest usually has some "
        "{usual:.1%}. The {units} that it takes differ from the others in every {stratum}, or a few {units} carry the "
        "statistic, and the standard error may be wrong.",
        do="Compare it with that of linearization: `strat.estimate(statistic, on=design)`.",
        do_on_command_line="Compare it with that of linearization: --method taylor.",
    ),
    Kind(
        "few-replicates",
        "value",
        "Only {drawn:replicate} were drawn at random. The standard error varies by some {off:.0%} from one draw "
        "to another.",
        do="Draw more: {enough:,} replicates make it {then:.0%}.",
    ),
    Kind(
        "single-stratum-multi-array",
        "value",
        "Multi-array replicates of a single {stratum} give too short an interval for this statistic. {do}",
        do="Use `strat.jackknife(design)`.",
        do_on_command_line="Use --method jackknife.",
    ),
    Kind(
        "limits-by-method",
        "value",
        "With replicates a share has {scale}, in closed form beta-binomial ones. Limits may differ although standard "
        "errors agree.",
        do="Compare standard errors, or limits of one method.",
    ),
    Kind(
        "few-df",
        "value",
        "With {df:degree of freedom} every interval is wide, and its level is itself uncertain.",
        do="Sample more {units}. More rows in the same {units} do not help.",
    ),
    Kind(
        "undefined-samples",
        "value",
        "In {share:.1%} of the samples there is no value, because too few rows are of some class. These samples "
        "are left out.",
        do="Add rows of the rare class.",
    ),
    Kind(
        "other-limits",
        "value",
        {
            "two": "The limits printed beside the systems are {low:.4f} to {high:.4f}, by the test of these two.",
            "several": "The limits printed beside the systems are {low:.4f} to {high:.4f}, for all pairs at once.",
        },
        do="To have those, use `board.interval()` or `board.pairs()`.",
    ),
    Kind(
        "proxy-gain",
        "value",
        "The proxy makes {labels:label} as good as {as_good_as:,.0f} (interval width {width:.4g}, {alone:.4g} with the "
        "labels alone).",
    ),
    Kind(
        "proxy-no-gain",
        "value",
        "The proxy gains no precision over {labels:label} (interval width {width:.4g}, {alone:.4g} with the labels "
        "alone).",
        do="Leave it out.",
    ),
    Kind(
        "proxy-worse",
        "value",
        "The proxy makes the estimate less precise than {labels:label} (interval width {width:.4g}, {alone:.4g} with "
        "the labels alone). {do}",
        do="{difference:Take `strat.Proxy(…, estimator='regression')`/Leave it out}, or calibrate it.",
        do_on_command_line="{difference:Take --estimator regression/Leave it out}, or calibrate it: --calibrate.",
    ),
    Kind(
        "proxy-differs-by-group",
        "value",
        "{proxy!r} errs differently here than in {largest}: truth minus forecast differs by {gap:.3f} "
        "(p = {p:.2g}). The estimate here rests on its own labels.",
        do="Label more rows here.",
    ),
    Kind(
        "group-undefined",
        "value",
        "There is no value: {why}",
        do="Join groups, or add rows.",
    ),
    Kind(
        "new-models",
        "value",
        {
            "": "The interval is for the model that is trained on all rows, and for models trained on as many. It is "
            "that of the {units} times {factor:.3g}, because the {models:model} of the splits differ.",
            "macro": "The interval is for the model that is trained on all these rows. For the mean over models that "
            "are trained on others none holds where some of them hardly ever predict a class.",
        },
    ),
    Kind(
        "gate-settle",
        "value",
        {
            "": "To settle it with a probability of {power:g}, sample {more:unit} more if the difference stays as it "
            "is, or {equal:unit} more if the two are in truth equal. There are {there:,}.",
            "difference": "To settle it with a probability of {power:g}, sample {more:unit} more if the difference "
            "stays as it is. There are {there:,}.",
            "equal": "To settle it with a probability of {power:g}, sample {equal:unit} more if the two are in truth "
            "equal. There are {there:,}.",
        },
    ),
    Kind(
        "gate-lower",
        "value",
        "The candidate is shown to be lower, but not by more than the margin.",
        do="Sample more {items}, or accept the risk.",
    ),
    Kind("gate-within-margin", "value", "The candidate is lower, by less than the margin."),
    Kind(
        "gate-one-more",
        "value",
        "With one more {unit} that fails altogether the value would be {value:.3g}, beyond the floor of {floor:g}. So "
        "few {units} can't show a kind that they happen not to hold.",
        do="Sample more {units}.",
    ),
    Kind("gate-undefined", "value", "It is not judged: {why}"),
    Kind(
        "gate-limits",
        "value",
        "Limits are one-sided, {percent:g} %{looks:?, and hold at every look (narrowest at {looks:unit})}.{checks:? On "
        "the better side they hold for all {checks:,} checks at once.}",
    ),
    Kind(
        "few-beyond",
        "value",
        "Only {beyond:.2g} of {number:,} {what} lie beyond {name} {rate:g}. The interval there may be too short.",
        do="Ask for a larger {name}, or add {what}.",
    ),
    Kind(
        "quantile-by-shares",
        "value",
        "{method} replicates cannot estimate the variance of a quantile. Woodruff's interval is used.",
    ),
    Kind(
        "known-part",
        "value",
        "One of the values that this one is made of did not vary, and is taken as known exactly. Its own limits are "
        "wider than a standard error of 0 suggests, so that these limits are too short, and a test by them rejects too "
        "often.",
        do="Look at the limits of the values themselves, or merge groups until each shows variation.",
    ),
    Kind(
        "few-data-sets",
        "value",
        "{n:data set} and {systems:system} are few for the F approximation. {exact:The exact test gives/Random orders "
        "of the systems give} p = {pvalue:.3g}.",
        do="Report this p-value.",
    ),
    Kind(
        "threshold-from-data",
        "value",
        "The greatest non-mated score sets the threshold, and the interval takes it as given. More comparisons move it "
        "up.",
        do="Ask for FNMR at a larger false match rate.",
    ),
    Kind(
        "pairs-not-kept",
        "value",
        "There are too many pairs of subjects to keep, so that what comparisons of one pair share is counted twice. "
        "The interval is a little too wide.",
    ),
    Kind(
        "few-subjects",
        "value",
        "{n:subject} are few for a rate at a threshold that they decide. The interval may be too short.",
        do="Add subjects.",
    ),
    Kind(
        "scores-reversed",
        "value",
        {
            "error": "The equal error rate is above 0.5: mated comparisons score worse than non-mated ones. Is the "
            "direction of the scores reversed?",
            "ranks": "With a table of {given}, mates score worse than {place:.0%} of the strangers on average. Is it a "
            "table of {other}?",
        },
        do="Give distances as `distance`, and similarities as `similarity`.",
        do_on_command_line="Give distances as --distance, and similarities as --similarity.",
    ),
    Kind(
        "each-subject-the-same",
        "value",
        "With each subject counted the same (another question), the rate at rank {rank:g} is {value:.4f} (95 % "
        "{low:.4f} to {high:.4f}, df {df:.4g}).",
        do="If that is the question, ask for it: `average='subjects'`.",
        do_on_command_line="If that is the question, ask for it: --average subjects.",
    ),
    Kind(
        "rising-errors",
        "value",
        "The error rises with the order of the rows, from {first:.2f} in the first fold to {last:.2f} in the last. The "
        "mean over folds says little of rows that are still to come.",
        effect="Later rows may relate to their labels in another way than earlier ones.",
        do="`strat.protocols.drift` tests each later part of the rows after each training.",
        do_on_command_line="In Python `strat.protocols.drift` tests each later part of the rows after each training.",
    ),
)
