import strat

school = [row // 6 for row in range(120)]
room = [row // 3 for row in range(120)]  # two of each school
alone = [min(one, 38) for one in room]  # one of the last
marks = strat.mean([row % 7 for row in range(120)])
drawn = {"school": 200, "room": 10}
raised = strat.estimate(marks, on=strat.Design.staged({"school": school, "room": alone}, population=drawn))
silent = strat.estimate(marks, on=strat.Design.staged({"school": school, "room": room}, population=drawn))
